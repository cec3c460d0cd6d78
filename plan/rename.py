#!/usr/bin/env python3
"""Rename definitions all over a Rust workspace, every use resolved by the compiler's own eyes.

    rename.py PLAN.tsv [--tree DIR] [--engine ra|rustc] [--only REGEX] [--name REGEX] [--no-check] [--no-doc] [--dry]

A row of the plan:  file <TAB> Old <TAB> New [<TAB> kind [<TAB> a word of why]]
  kind   type (struct, enum, trait, alias; the default), fn, mod, variant, field, macro.
  Old    may be `Owner::old` for a method, a variant or a field: the `impl`, `trait`, `enum` or `struct`
         of that name in that file is where the definition is looked for.
  Lines that begin with `#` are skipped. A file that has moved is found by the name of its definition.

Engines.
  ra     (default) rust-analyzer finds the uses: macros, links in docs, shorthand fields, trait methods.
         Any number of definitions of one name in one go. `cargo check` is the judge, below.
  rustc  only the definition is edited; then `cargo check` is asked again and again, and each span that
         it cannot resolve and whose text is the old name is replaced. Definitions of one name whose
         visibility overlaps go in different rounds, so a span has one meaning.
Both end with: `cargo check --workspace --all-targets` until clean (leftovers are replaced at its spans where
one row only can be meant), `cargo doc` in the same way for links, `cargo fmt --all`, and a list of the
mentions that nobody resolves (comments, strings, Markdown, code for other systems). Nothing is committed.
"""
import argparse, collections, json, os, re, shutil, subprocess, sys, time

IDENT = r'[A-Za-z_]\w*'
CODES = set('E0412 E0422 E0423 E0425 E0432 E0433 E0405 E0404 E0574 E0531 E0532 E0407 E0437 E0438 E0573 E0576 '
            'E0599 E0560 E0609 E0559 E0026 E0046 E0583 E0411 E0575 E0603 E0364 E0365'.split())
SLOT = ['slot'] if shutil.which('slot') and not os.environ.get('IN_SLOT') else []   # IN_SLOT=1: the whole run holds a slot
MACROS = False     # derives need not be expanded: what only they name, the check finds


class Row:
    def __init__(self, file, old, new, kind):
        self.file, self.kind, self.new = file, kind or 'type', new
        self.owner, _, self.old = old.rpartition('::')
        self.done = None        # None: not yet; True; or a str that says why not
        self.uses = 0
        self.touched = set()

    def __str__(self):
        return f'{self.file}: {self.owner + "::" if self.owner else ""}{self.old} -> {self.new} ({self.kind})'


def read_plan(path, only, name):
    rows = []
    for number, line in enumerate(open(path), 1):
        if line.startswith('#') or not line.strip():
            continue
        cells = line.rstrip('\n').split('\t') + ['', '']
        if len(cells) < 5:
            sys.exit(f'{path}:{number}: want file, old, new, [kind]')
        row = Row(*(c.strip() for c in cells[:4]))
        if re.search(only or '', row.file) and re.search(name or '', row.old):
            rows.append(row)
    return rows


def rust_files(root):
    for top, dirs, files in os.walk(os.path.join(root, 'crates')):
        dirs[:] = [d for d in dirs if d not in ('target', 'node_modules')]
        for f in files:
            if f.endswith('.rs'):
                yield os.path.relpath(os.path.join(top, f), root)


def code_only(text):
    """The text with comments and strings blanked, the same length: good enough to find definitions."""
    out = list(text)
    skip = r'//[^\n]*|/\*.*?\*/|\bb?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\[^\n]{1,8}?|[^\\\n\'])\''
    for m in re.finditer(skip, text, re.S):
        for i in range(*m.span()):
            if out[i] != '\n':
                out[i] = ' '
    return ''.join(out)


def block(code, start):
    """The span of the braces that open at or after start."""
    i = code.find('{', start)
    semi = code.find(';', start)
    if i < 0 or 0 <= semi < i:
        return None
    depth = 0
    for j in range(i, len(code)):
        depth += (code[j] == '{') - (code[j] == '}')
        if depth == 0:
            return i, j
    return None


def definitions(root, row, file=None):
    """Offsets (in characters) of the row's name at its definition."""
    path = os.path.join(root, file or row.file)
    if not os.path.exists(path):
        return []
    code, old = code_only(open(path).read()), re.escape(row.old)
    vis = r'(?:pub(?:\([^)]*\))?\s+)?'
    pattern = {
        'type': rf'(?m)^\s*{vis}(?:unsafe\s+)?(?:struct|enum|trait|type|union)\s+({old})\b',
        'fn': rf'(?m)^\s*{vis}(?:default\s+|const\s+|async\s+|unsafe\s+|extern\s+)*fn\s+({old})\b',
        'mod': rf'(?m)^\s*{vis}mod\s+({old})\s*[;{{]',
        'variant': rf'(?m)^\s*({old})\s*(?=[,({{=\n])',
        'field': rf'(?m)^\s*{vis}({old})\s*:',
        'macro': rf'macro_rules!\s+({old})\b',
        'const': rf'(?m)^\s*{vis}(?:const|static)\s+({old})\b',
    }[row.kind]
    spans = [(0, len(code))]
    if row.owner:
        spans = []
        for m in re.finditer(rf'(?m)^\s*{vis}(?:impl\b[^{{;]*?\b|trait\s+|enum\s+|struct\s+){re.escape(row.owner)}\b(?=[^{{;]*\{{)', code):
            header = code[m.start():code.find('{', m.end())]
            if re.match(r'\s*impl\b', header) and not re.search(rf'(?:\bfor\s+|impl(?:<[^{{]*?>)?\s+)(?:[\w:]+::)?{re.escape(row.owner)}\b(?:<[^{{]*>)?\s*(?:where\b.*)?$', header, re.S):
                continue
            if b := block(code, m.end()):
                spans.append(b)
    hits = [m.start(1) for a, b in spans for m in re.finditer(pattern, code[a:b])
            for m in [re.compile(pattern).search(code, a + m.start(0))]]
    if not hits and row.kind == 'type':     # a definition inside a macro's call: `names! { Old { … } }`
        hits = [m.start(1) for m in re.finditer(rf'(?m)^names!\s*[({{]\s+({old}) \{{$', code)]
    hits = sorted(set(hits))
    if row.kind in ('type', 'fn', 'const') and not row.owner and len(hits) > 1:    # aliases within an impl, types within a function
        outer = [h for h in hits if not code[code.rfind('\n', 0, h) + 1:h].startswith((' ', '\t'))]
        hits = outer or hits
    return hits


def locate(root, rows):
    """Give each row the file where its definition is today."""
    claimed = {(r.file, r.old, r.kind) for r in rows if definitions(root, r)}
    everything = None
    for row in rows:
        hits = definitions(root, row)
        if not hits:
            everything = everything or list(rust_files(root))
            others = [f for f in everything if (f, row.old, row.kind) not in claimed and '/tests/' not in f and definitions(root, row, f)]
            same = [f for f in others if os.path.basename(f) == os.path.basename(row.file)]
            if len(same) == 1:
                print(f'moved: {row} is in {same[0]}')
                row.file = same[0]
                claimed.add((row.file, row.old, row.kind))
                hits = definitions(root, row)
        if len(hits) != 1:
            row.done = f'{len(hits)} definitions found'
    taken = collections.defaultdict(set)
    for f in (everything or rust_files(root)):
        for m in re.finditer(r'(?m)^\s*(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait|type)\s+(\w+)', code_only(open(os.path.join(root, f)).read())):
            taken[m[1]].add(f)
    leaving = {(r.file, r.old) for r in rows if r.kind == 'type'}
    for row in rows:
        if row.kind == 'type' and any((f, row.new) not in leaving and f.split('/')[1] == row.file.split('/')[1] for f in taken[row.new]):
            print(f'note: {row.new} exists in this crate: {sorted(taken[row.new])} ({row})')


def scope(row, root):
    """The paths in which the row's definition can be named."""
    text = open(os.path.join(root, row.file)).read()
    at = definitions(root, row)
    if row.kind in ('variant', 'field') or not at or '::' in row.owner:
        return ['crates/']
    line = text[text.rfind('\n', 0, at[0]) + 1:at[0]]
    crate = '/'.join(row.file.split('/')[:2]) + '/'
    base, name = os.path.split(row.file)
    own = base + '/' if name in ('mod.rs', 'lib.rs', 'main.rs') else row.file[:-3] + '/'
    if 'pub(crate)' in line:
        return [crate]
    if 'pub(super)' in line:
        parent = os.path.dirname(own.rstrip('/'))
        return [parent + '/', parent + '.rs']
    if 'pub(' in line or re.search(r'\bpub\s', line) or row.kind in ('fn', 'mod') and row.owner:
        return [crate] if crate == 'crates/cli/' and 'pub(' not in line else ['crates/']
    return [row.file, own]


def within(file, paths):
    return any(file == p or (p.endswith('/') and file.startswith(p)) for p in paths)


def overlap(a, b):
    return any(within(x, b) for x in a) or any(within(x, a) for x in b)


# ---------------------------------------------------------------- rust-analyzer
class Analyzer:
    def __init__(self, root):
        self.root, self.id, self.versions = os.path.abspath(root), 0, {}
        self.p = subprocess.Popen(['rust-analyzer'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=root)
        self.quiet = False
        self.ask('initialize', {
            'processId': os.getpid(), 'rootUri': 'file://' + self.root,
            'workspaceFolders': [{'uri': 'file://' + self.root, 'name': 'tree'}],
            'capabilities': {'general': {'positionEncodings': ['utf-8']}, 'experimental': {'serverStatusNotification': True},
                             'workspace': {'workspaceEdit': {'documentChanges': True, 'resourceOperations': ['create', 'rename', 'delete']},
                                           'configuration': False},
                             'textDocument': {'rename': {'prepareSupport': True}}},
            'initializationOptions': {'checkOnSave': False, 'cachePriming': {'enable': False}, 'diagnostics': {'enable': False},
                                      'cargo': {'allTargets': True, 'buildScripts': {'enable': MACROS}}, 'procMacro': {'enable': MACROS},
                                      'files': {'watcher': 'client'}, 'rename': {'allowExternalItems': False}}})
        self.tell('initialized', {})
        start = time.time()
        while not self.quiet:
            self.take()
            if time.time() - start > 900:
                sys.exit('rust-analyzer does not get ready')
        print(f'rust-analyzer is ready after {time.time() - start:.0f} s')

    def send(self, message):
        body = json.dumps({'jsonrpc': '2.0', **message}).encode()
        self.p.stdin.write(b'Content-Length: %d\r\n\r\n' % len(body) + body)
        self.p.stdin.flush()

    def take(self):
        size = 0
        while (line := self.p.stdout.readline().strip()):
            if line.lower().startswith(b'content-length:'):
                size = int(line.split(b':')[1])
        if not size:
            sys.exit('rust-analyzer has ended')
        m = json.loads(self.p.stdout.read(size))
        if m.get('method') == 'experimental/serverStatus':
            self.quiet = m['params'].get('quiescent', False)
            if m['params'].get('health') != 'ok':
                print('rust-analyzer:', m['params'].get('message', '')[:300])
        elif 'method' in m and 'id' in m:
            self.send({'id': m['id'], 'result': [None] * len(m.get('params', {}).get('items', [])) if m['method'] == 'workspace/configuration' else None})
        return m

    def tell(self, method, params):
        self.send({'method': method, 'params': params})

    def ask(self, method, params):
        self.id += 1
        for attempt in range(5):
            self.send({'id': self.id, 'method': method, 'params': params})
            while (m := self.take()).get('id') != self.id or 'method' in m:
                pass
            if 'error' not in m:
                return m['result']
            if m['error']['code'] in (-32801, -32800, -32802):   # content modified, cancelled: ask again
                self.id += 1
                time.sleep(0.5)
                continue
            raise RuntimeError(m['error']['message'])
        raise RuntimeError('asked five times')

    def written(self, path):
        """Tell of a file's new text; what an editor has open comes before the disk, and in order."""
        uri, text = 'file://' + path, open(path).read()
        if uri not in self.versions:
            self.versions[uri] = 1
            self.tell('textDocument/didOpen', {'textDocument': {'uri': uri, 'languageId': 'rust', 'version': 1, 'text': text}})
        else:
            self.versions[uri] += 1
            self.tell('textDocument/didChange', {'textDocument': {'uri': uri, 'version': self.versions[uri]}, 'contentChanges': [{'text': text}]})

    def rename(self, row):
        path = os.path.join(self.root, row.file)
        text = open(path).read()
        at = definitions(self.root, row)[0]
        line = text.count('\n', 0, at)
        col = len(text[text.rfind('\n', 0, at) + 1:at].encode())
        edit = self.ask('textDocument/rename', {'textDocument': {'uri': 'file://' + path}, 'position': {'line': line, 'character': col}, 'newName': row.new})
        changes = (edit or {}).get('documentChanges') or [{'textDocument': {'uri': u}, 'edits': e} for u, e in ((edit or {}).get('changes') or {}).items()]
        moves, files = [], []
        for c in changes:
            if c.get('kind') == 'rename':
                moves.append((c['oldUri'][7:], c['newUri'][7:]))
            elif 'edits' in c:
                files.append((c['textDocument']['uri'][7:], c['edits']))
        outside = [f for f, _ in files if not f.startswith(self.root + '/')]
        if outside:
            raise RuntimeError(f'would change {outside[0]}')
        for f, edits in files:
            lines = open(f, 'rb').read().split(b'\n')
            starts = [0]
            for l in lines:
                starts.append(starts[-1] + len(l) + 1)
            data = b'\n'.join(lines)
            places = sorted({(starts[e['range']['start']['line']] + e['range']['start']['character'],
                              starts[e['range']['end']['line']] + e['range']['end']['character'], e['newText']) for e in edits}, reverse=True)
            for a, b, new in places:
                data = data[:a] + new.encode() + data[b:]
            open(f, 'wb').write(data)
            row.uses += len(places)
            row.touched.add(os.path.relpath(f, self.root))
            self.written(f)
        self.moved = [(os.path.relpath(a, self.root), os.path.relpath(b, self.root)) for a, b in moves]
        for a, b in moves:
            subprocess.run(['git', 'mv', a, b], cwd=self.root, check=True)
            row.touched.add(os.path.relpath(b, self.root))
            for old in [u for u in self.versions if u == 'file://' + a or u.startswith('file://' + a + '/')]:
                self.tell('textDocument/didClose', {'textDocument': {'uri': old}})
                del self.versions[old]
            self.tell('workspace/didChangeWatchedFiles', {'changes': [{'uri': 'file://' + a, 'type': 3}]})
            for top, _, names in os.walk(b) if os.path.isdir(b) else [(os.path.dirname(b), [], [os.path.basename(b)])]:
                for name in names:
                    self.written(os.path.join(top, name))
        return bool(moves)

    def end(self):
        try:
            self.ask('shutdown', None)
            self.tell('exit', None)
            self.p.wait(20)
        except Exception:
            self.p.kill()


def name_paths(root, moved):
    """Paths of moved files as Markdown, strings and comments spell them."""
    for f in subprocess.run(['git', 'ls-files', '*.md', '*.rs', '*.toml', 'check', '*.sh'], cwd=root, capture_output=True, text=True).stdout.split():
        path = os.path.join(root, f)
        if os.path.exists(path):
            text = new = open(path).read()
            for a, b in moved:
                new = re.sub(rf'(?<![\w/-]){re.escape(a)}(?![\w-])', b, new)
            if new != text:
                open(path, 'w').write(new)
                print(f'  paths in {f}')


def by_analyzer(root, rows):
    ra = Analyzer(root)
    order = sorted((r for r in rows if r.done is None), key=lambda r: (r.kind == 'mod', r.owner != '', r.kind == 'type'))
    order.sort(key=lambda r: {'variant': 0, 'field': 0, 'fn': 1, 'const': 1, 'macro': 1, 'type': 2, 'mod': 3}[r.kind])
    for n, row in enumerate(order, 1):
        start = time.time()
        try:
            again = ra.rename(row)
            row.done = True
            print(f'[{n}/{len(order)}] {row}: {row.uses} places, {time.time() - start:.1f} s', flush=True)
            if again:               # files have moved: the paths in words, the other rows
                name_paths(root, ra.moved)
                for other in order:
                    for a, b in ra.moved:
                        if other.done is None and (other.file == a or other.file.startswith(a + '/')):
                            other.file = b + other.file[len(a):]
        except (RuntimeError, IndexError, OSError) as e:
            row.done = str(e) or 'definition not found'
            print(f'[{n}/{len(order)}] {row}: NOT DONE: {row.done}', flush=True)
    ra.end()


# ---------------------------------------------------------------- cargo's spans
def cargo(root, *words, env=None):
    run = subprocess.run(SLOT + ['cargo', *words, '--message-format=json'], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         env={**os.environ, **(env or {})})
    found = []
    for line in run.stdout.splitlines():
        try:
            m = json.loads(line)
        except ValueError:
            continue
        if m.get('reason') == 'compiler-message':
            found.append(m['message'])
    return run.returncode, found, run.stderr


def all_spans(message):
    for s in message.get('spans', []):
        if s.get('is_primary'):
            yield s
            e = s.get('expansion')
            while e:
                yield e['span']
                e = e['span'].get('expansion')


def fix_at_spans(root, rows, messages, docs=False):
    """Replace the old names at the spans that the compiler complains about. Returns count and the rest."""
    by_old = collections.defaultdict(list)
    for r in rows:
        by_old[r.old].append(r)
    edits, rest = collections.defaultdict(dict), []
    for m in messages:
        code = (m.get('code') or {}).get('code') or ''
        if not (docs and code.startswith('rustdoc')) and not (m['level'] == 'error' and (code in CODES or not code)):
            if m['level'] == 'error':
                rest.append(m)
            continue
        hit = False
        for s in all_spans(m):
            f = os.path.relpath(os.path.join(root, s['file_name']), root)
            if f.startswith('..') or not os.path.exists(os.path.join(root, f)):
                continue
            data = open(os.path.join(root, f), 'rb').read()
            a, b = s['byte_start'], s['byte_end']
            text = data[a:b].decode(errors='replace')
            if not docs and len(text) > 200 or '\n' in text and code not in ('E0407', 'E0432'):
                continue
            said = set(re.findall(r'`([^`]+)`', m['message'] + ' '.join(x.get('label') or '' for x in m['spans'])))
            said |= {part for x in said for part in re.findall(IDENT, x)}
            places = [x for x in re.finditer(rf'\b{IDENT}\b', text) if x[0] in by_old and x[0] in said]
            for x in (places[-1:] if code == 'E0432' else places[:1]):
                can = [r for r in by_old[x[0]] if within(f, r.scope)]
                news = {r.new for r in can}
                if len(news) > 1:       # of several, the one that this file names already
                    can = [r for r in can if f in r.touched]
                    news = {r.new for r in can} or {r.new for r in by_old[x[0]]}
                if len(news) == 1 and can:
                    at = a + len(text[:x.start()].encode())
                    edits[f][(at, at + len(x[0].encode()))] = (can[0], x[0])
                    hit = True
                elif len(news) > 1:
                    print(f'  ambiguous: {f}:{s["line_start"]} {x[0]} may be {sorted(news)}')
            if hit:
                break
        if not hit and (m['level'] == 'error' or docs):
            rest.append(m)
    count = 0
    for f, places in edits.items():
        data = open(os.path.join(root, f), 'rb').read()
        for (a, b), (row, old) in sorted(places.items(), reverse=True):
            if data[a:b].decode() != old:
                continue
            data = data[:a] + row.new.encode() + data[b:]
            row.uses += 1
            row.touched.add(f)
            count += 1
        open(os.path.join(root, f), 'wb').write(data)
    return count, rest


def until_clean(root, rows, packages=()):
    where = [w for p in packages for w in ('-p', p)] or ['--workspace']
    for turn in range(1, 80):
        start = time.time()
        rc, messages, err = cargo(root, 'check', *where, '--all-targets', '--keep-going')
        count, rest = fix_at_spans(root, rows, messages)
        print(f'  check {turn}: {"clean" if rc == 0 else f"{count} places replaced, {len(rest)} other errors"} ({time.time() - start:.0f} s)', flush=True)
        if rc == 0:
            return True
        if not count:
            for m in {m['rendered'] for m in rest}:
                print(m)
            if not rest:
                print(err[-2000:])
            return False
    return False


def by_compiler(root, rows, packages):
    waiting = [r for r in rows if r.done is None]
    for r in waiting:
        if r.kind == 'mod':
            r.done = 'a module is renamed by the engine ra'
    waiting = [r for r in waiting if r.done is None]
    number = 0
    while waiting:
        number += 1
        batch = []
        for r in waiting:
            if not any(o.old == r.old and overlap(o.scope, r.scope) or o.old == r.new or o.new == r.old for o in batch):
                batch.append(r)
        batch_ids = set(map(id, batch))
        waiting = [r for r in waiting if id(r) not in batch_ids]
        print(f'round {number}: {len(batch)} definitions')
        for f, group in by_file(batch).items():
            path = os.path.join(root, f)
            for r in group:
                text = open(path).read()
                at = definitions(root, r)
                if len(at) != 1:
                    r.done = 'definition not found'
                    continue
                open(path, 'w').write(text[:at[0]] + r.new + text[at[0] + len(r.old):])
                r.touched.add(f)
                r.uses += 1
                r.done = True
        if not until_clean(root, batch, packages):
            print('stopped: the rest needs hands')
            return False
    return True


def by_file(rows):
    out = collections.defaultdict(list)
    for r in rows:
        out[r.file].append(r)
    return out


def docs(root, rows):
    """Links in docs, those of private items too. Other complaints of rustdoc are not ours."""
    for turn in range(1, 12):
        rc, messages, err = cargo(root, 'doc', '--workspace', '--no-deps', '--document-private-items', '--keep-going',
                                  env={'RUSTDOCFLAGS': '--cap-lints warn'})
        ours = [m for m in messages if any(re.search(rf'\b{re.escape(r.old)}\b', m['message']) for r in rows)]
        count, rest = fix_at_spans(root, rows, ours, docs=True)
        print(f'  doc {turn}: {count} links replaced', flush=True)
        if not count:
            for m in rest:
                print(m.get('rendered', '')[:600])
            return


# ---------------------------------------------------------------- what nobody resolves
def mentions(root, rows):
    print('\nMentions that are left (look at each; an entry is not yet a fault):')
    texts = {f: open(os.path.join(root, f)).read() for f in rust_files(root)}
    for r in rows:
        if r.done is not True or r.kind not in ('type', 'mod', 'fn'):
            continue
        word = re.compile(rf'\b{re.escape(r.old)}\b' if r.kind == 'type' else rf'`(?:{IDENT}::)*{re.escape(r.old)}(?:\(\))?`')
        still = re.compile(rf'(?:struct|enum|trait|type|use\b[^;]*?|mod|fn)\s*\b{re.escape(r.old)}\b', re.S)
        for f in sorted(r.touched):
            text = texts.get(f)
            if not text or not word.search(text):
                continue
            code = code_only(text).split('\n')
            bare = re.compile(rf'(?<![:.\w]){re.escape(r.old)}\b(?!\s*(?:::)?\s*=[^=>])')
            other = still.search('\n'.join(code))     # the file names another one of that name
            variant = re.compile(rf'^\s*{re.escape(r.old)}\s*(?:[,({{=].*)?$')
            for n, line in enumerate(text.split('\n'), 1):
                if not word.search(line):
                    continue
                if word.search(code[n - 1]):
                    if r.kind == 'type' and not other and bare.search(code[n - 1]) and not variant.search(code[n - 1]):
                        print(f'  {f}:{n}: code: {line.strip()[:120]}   [{r.old} -> {r.new}]')
                elif r.kind != 'type' or not other and re.search(rf'[`:"\[]{re.escape(r.old)}[`\]":]', line):
                    print(f'  {f}:{n}: words: {line.strip()[:120]}   [{r.old} -> {r.new}]')
    for md in [f for f in subprocess.run(['git', 'ls-files', '*.md'], cwd=root, capture_output=True, text=True).stdout.split() if f.endswith('.md')]:
        text = open(os.path.join(root, md)).read()
        for r in rows:
            if r.done is True and r.kind == 'mod' and r.old + '.rs' in text or r.done is True and r.kind == 'type' and f'`{r.old}`' in text and md.startswith(('ARCH', 'CONTR', 'docs/adr')):
                print(f'  {md}: mentions `{r.old}` [-> {r.new}]')


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument('plan')
    a.add_argument('--tree', default='.')
    a.add_argument('--engine', choices=('ra', 'rustc', 'none'), default='ra',
                   help='`none`: only what comes after, for a tree where the renames were made')
    a.add_argument('--only', help='rows whose file matches this expression')
    a.add_argument('--name', help='rows whose old name matches this expression')
    a.add_argument('--package', '-p', action='append', default=[], help='check these packages only')
    a.add_argument('--no-check', action='store_true')
    a.add_argument('--no-doc', action='store_true')
    a.add_argument('--dry', action='store_true', help='only find the definitions')
    o = a.parse_args()
    root = os.path.abspath(o.tree)
    rows = read_plan(o.plan, o.only, o.name)
    if o.engine == 'none':
        texts = {f: open(os.path.join(root, f)).read() for f in rust_files(root)}
        for r in rows:
            r.touched = {f for f in texts if re.search(rf'\b{re.escape(r.new)}\b', texts[f])}
            r.done = True if r.touched else 'not renamed'
    else:
        locate(root, rows)
    for r in rows:
        r.scope = scope(r, root) if os.path.exists(os.path.join(root, r.file)) else ['crates/']
        if isinstance(r.done, str):
            print(f'not found: {r}: {r.done}')
    print(f'{len(rows)} rows, {sum(not isinstance(r.done, str) for r in rows)} found')
    if o.dry:
        return
    if o.engine != 'rustc':
        if o.engine == 'ra':
            by_analyzer(root, rows)
            again = [r for r in rows if isinstance(r.done, str) and r.kind != 'mod' and len(definitions(root, r)) == 1]
            if again and not o.no_check and until_clean(root, [r for r in rows if r.done is True], o.package):
                print(f'{len(again)} that rust-analyzer does not rename, by the compiler')
                for r in again:
                    r.done = None
                by_compiler(root, again, o.package)
        clean = o.no_check or until_clean(root, rows, o.package)
    else:
        clean = by_compiler(root, rows, o.package)
    if clean and not o.no_doc:
        docs(root, rows)
    subprocess.run(['cargo', 'fmt', '--all'], cwd=root)
    mentions(root, rows)
    print()
    for r in rows:
        if r.done is not True:
            print(f'NOT DONE: {r}: {r.done}')
    print(f'{sum(r.done is True for r in rows)} of {len(rows)} renamed, {sum(r.uses for r in rows)} places in {len(set().union(*[r.touched for r in rows], set()))} files; '
          f'{"not checked" if o.no_check else "the tree checks" if clean else "the tree does NOT check"}')
    sys.exit(0 if clean else 1)


main()
