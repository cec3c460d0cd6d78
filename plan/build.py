#!/usr/bin/env python3
"""plan.txt -> renames.tsv, checked: each definition is there once, and what would collide afterwards."""
import collections,sys,os
sys.path.insert(0,os.path.dirname(os.path.abspath(__file__)))
import listing
src,root,out=sys.argv[1:4]
rows=[];text=[]
for l in open(src):
    l=l.rstrip('\n')
    if l.startswith('#'): text.append('#'+l.lstrip('#')); continue
    if not l.strip(): continue
    c,p,o,n=l.split()[:4]
    f=f'crates/{c}/src/{p}'; rows.append((f,o,n)); text.append(f'{f}\t{o}\t{n}\ttype')
open(out,'w').write('\n'.join(text)+'\n')
D=listing.defs(root); have=collections.Counter((d[0],d[2]) for d in D)
for f,o,n in rows:
    if have[(f,o)]!=1: print('definitions:',have[(f,o)],f,o)
m={(f,o):n for f,o,n in rows}
if len(m)!=len(rows): print('double rows',[k for k,v in collections.Counter((f,o) for f,o,n in rows).items() if v>1])
after=collections.defaultdict(list)
for d in D: after[m.get((d[0],d[2]),d[2])].append(d[0])
for n,fs in sorted(after.items()):
    cr=collections.Counter(f.split('/')[1] for f in fs)
    if len(fs)>3 or max(cr.values())>1 : print('COLLIDES',n,[f[7:] for f in fs])
news={n for _,_,n in rows}
for n,fs in sorted(after.items()):
    if len(fs)>1 and n in news: print('new and twice',n,[f[7:] for f in fs])
print(len(rows),'renames', dict(collections.Counter(f.split('/')[1] for f,_,_ in rows)), len(after),'names for',len(D))
twice=sorted(n for n,fs in after.items() if len(fs)>1)
print('more than one in the tree:',' '.join(f'{n}×{len(after[n])}' for n in twice))
