#!/usr/bin/env python3
"""List type definitions outside tests that occur more than once in a crate or more than three times in the tree."""
import re,sys,os,collections
root=sys.argv[1] if len(sys.argv)>1 else '.'
DEF=re.compile(r'^(\s*)(pub(?:\([^)]*\))?\s+)?(struct|enum|trait|type|union)\s+([A-Z]\w*)')
def defs(root):
    out=[]
    for d,_,fs in os.walk(os.path.join(root,'crates')):
        if '/tests' in d or '/benches' in d or '/target' in d: continue
        for f in sorted(fs):
            if not f.endswith('.rs') or f=='tests.rs': continue
            p=os.path.join(d,f); rel=os.path.relpath(p,root)
            L=open(p).read().split('\n')
            i=0; impl_depth=None; intest=False
            inmac=False
            depth_impl=0
            for i,l in enumerate(L):
                if re.match(r'^(#\[cfg\(test\)\]|#\[cfg\(all\(test)',l) and any(re.match(r'^(pub(\([^)]*\))? )?mod \w+ \{',x) for x in L[i+1:i+4]): break
                m=re.match(r'^    ([A-Z]\w*) \{$',l)
                if m and inmac:
                    doc=[x.strip()[3:].strip() for x in L[max(0,i-6):i] if x.strip().startswith('///')]
                    out.append((rel,i+1,m[1],'enum','pub',' '.join(doc))); continue
                if re.match(r'^names!\s*[({]',l): inmac=True
                elif l in ('}',');'): inmac=False
                m=DEF.match(l)
                if m:
                    # type alias inside impl/trait: associated type
                    if m[3]=='type' and m[1]: 
                        continue
                    doc=[];j=i-1
                    while j>=0 and re.match(r'^\s*(///|#\[|\))',L[j]): 
                        if L[j].strip().startswith('///'): doc.insert(0,L[j].strip()[3:].strip())
                        j-=1
                    out.append((rel,i+1,m[4],m[3],(m[2] or '').strip(),' '.join(doc)))
    return out
if __name__=='__main__':
    D=defs(root); by=collections.defaultdict(list)
    for d in D: by[d[2]].append(d)
    n=0
    for name in sorted(by):
        ds=by[name]; crates=collections.Counter(d[0].split('/')[1] for d in ds)
        if len(ds)>3 or max(crates.values())>1:
            n+=1
            print(f'## {name} ×{len(ds)}  {dict(crates)}')
            for d in ds: print(f'   {d[0]}:{d[1]} {d[4]} {d[3]} — {d[5][:160]}')
    print(n,'names', len(D),'definitions')
