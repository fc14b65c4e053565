#!/usr/bin/env python3
"""Mutants of our own kernels, and the share of them that `tenon plugin check` finds.

    mutants.py TENON BUILD [--count N] [--seed N] [--jobs N] [--list FILE]

A mutant is one source of plugins/cpu with one token changed: an extent off by one, a tail that is left out, another
stride, data shared by threads, a write past the end. The changed source is compiled, the plugin is linked with it,
and the checker runs on the kernels that the source serves until a check fails. A mutant whose object code is that of
the original is drawn again. The table has a line for each mutant, found by which check, or not found.
"""
import argparse, concurrent.futures, pathlib, random, re, shlex, shutil, subprocess, sys, tempfile, time

# Source, and the subjects of the checks that run it.
SOURCES = {
    'cache.c': ':cache', 
    'convolution.c': ':convolution ', 'convolution_run.c': ':convolution ',
    'convolution_integer_run.c': 'convolution_integer', 'convolution_integer_depthwise.c': 'convolution_integer',
    'deconvolution.c': 'deconvolution', 'deconvolution_run.c': 'deconvolution', 'deformable.c': 'deformable',
    'grid.c': 'grid_sample', 'lrn.c': ':lrn', 'mat_mul.c': ':mat_mul ', 'mat_mul_run.c': ':mat_mul ',
    'mat_mul_integer.c': ':mat_mul_integer', 'pool.c': 'max_pool|average_pool|lp_pool', 
    'recurrent.c': 'lstm|gru|rnn', 'recurrent_run.c': 'lstm|gru|rnn', 'regions.c': 'roi_align', 'resize.c': 'resize',
    'rotary.c': 'rotary', 'scan.c': ':scan', 'scatter.c': ':scatter', 'spectrum.c': ':spectrum',
    'fourier.c': ':spectrum', 'suppress.c': ':suppress', 'top_k.c': ':top_k', 'unique.c': ':unique',
    'move.c': ':moves .*(permute|concat|slice|gather|tile|pad)', 'copy.c': ':moves .*(permute|concat|slice|gather|tile|pad)',
    'block_run.c': ':expressions .*(softmax|add|gelu|norm|cast|where)', 'block_gather.c': ':expressions',
    'rows.c': ':(mat_mul|convolution|deconvolution) ', 'columns.c': ':moves|:expressions .*(reduce|softmax)',
    'dynamic_quantize.c': 'dynamic_quantize', 'window.c': ':convolution |pool',
}

# Kind, pattern, replacement. The pattern's group is replaced.
KINDS = [
    ('off by one', r'\bfor \([^;]*; [^;]*[^<>-](<)(?= )[^;=]*;', '<='),
    ('off by one', r'\bfor \([^;]*= (0)[u]?;', '1'),
    ('off by one', r'([+-]) 1\b(?!\d)', None),
    ('off by one', r'(<=) ', '<'),
    ('off by one', r' (>=) ', '>'),
    ('missing tail', r'(\+ [a-z_0-9A-Z]+ - 1)\) /', ''),
    ('missing tail', r'\bfor \([^;]*; [^;]*< ([a-z_>.-]*(?:count|tail|rest|left|extent|width|length|rows|columns)\w*);', 'SHORT'),
    ('wrong stride', r'strides\[([a-z]\w*|\d)\]', None),
    ('wrong stride', r'dims\[([a-z]\w*|\d)\]', None),
    ('wrong stride', r'[a-z_>\].]+ (\*) \(?(?:size_t\)?)?\(?[a-z_]*(?:stride|pitch|width|columns|channels|count|depth|length)', '+'),
    ('race', r'\bthread \* ([a-z_>.-]+)', '0'),
    ('race', r'\b(\(size_t\)thread|call->thread|thread)\b(?= \*)', '0'),
    ('race', r'(index|begin|first) \* ([a-z_>.-]+)', None),
    ('past the end', r'(?:count|extent|width|length|rows|columns|bytes)\w*( - \w+)\b', ''),
    ('past the end', r'memcpy\([^;]*, ([a-z_>.-]*count[a-z_]*|[a-z_>.-]*bytes|[a-z_>.-]*size\w*)', None),
    ('past the end', r'memset\([^;]*, ([a-z_>.-]*count[a-z_]*|[a-z_>.-]*bytes|[a-z_>.-]*size\w*)', None),
]


def replace(kind, match, given):
    text = match.group(1)
    if given == 'SHORT':
        return f'{text} / 4 * 4'
    if given is not None:
        return given
    if text in '+-':
        return '-' if text == '+' else '+'
    if text in ('min', 'max'):
        return 'max' if text == 'min' else 'min'
    if kind == 'wrong stride':
        return str(int(text) + 1) if text.isdigit() else f'{text} == 0 ? 0 : {text} - 1'
    if kind == 'past the end':
        return f'{text} + 64'
    return None


def functions_only(text):
    """Begins and ends of the bodies of functions that compute: not match, tactics, comments or strings."""
    spans = []
    for m in re.finditer(r'^(?:static |inline )*[\w* ]+?(\w+)\([^;{}]*\) \{\n(.*?)^\}', text, re.M | re.S):
        if not re.search(r'match|tactics|accepts|estimate|refuse|rule|describe_|name', m.group(1)):
            spans.append((m.start(2), m.end(2)))
    return spans


def candidates(source):
    text = source.read_text()
    blank = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', lambda m: re.sub(r'[^\n]', ' ', m.group()), text, flags=re.S)
    found = []
    for begin, end in functions_only(blank):
        for kind, pattern, given in KINDS:
            for m in re.finditer(pattern, blank[begin:end]):
                new = replace(kind, m, given)
                if new is None or new == m.group(1):
                    continue
                a, b = begin + m.start(1), begin + m.end(1)
                found.append((source.name, kind, text.count('\n', 0, a) + 1, a, b, new))
    return found


class Builder:
    def __init__(self, build):
        self.build = build
        lines = subprocess.run(['ninja', '-C', build, '-t', 'commands', 'plugins/cpu.so'], capture_output=True, text=True,
                               check=True).stdout.splitlines()
        self.link = next(l for l in reversed(lines) if ' -shared ' in l).removeprefix(': && ').removesuffix(' && :')
        self.compile = {}
        for line in lines:
            m = re.search(r' -c (\S+/plugins/cpu/([\w.]+\.c))', line)
            if m:
                self.compile[m.group(2)] = (line, m.group(1))

    def run(self, command):
        return subprocess.run(command, shell=True, cwd=self.build, capture_output=True, text=True)

    def make(self, source, text, folder):
        """None: it does not compile. False: the same code."""
        line, path = self.compile[source]
        changed = folder / source
        changed.write_text(text)
        target = re.search(r' -o (\S+) ', line).group(1)
        new = folder / 'object.o'
        command = re.sub(r'^\S*ccache ', '', line)
        command = re.sub(r' -M[DTF] ?\S*(?= )', '', re.sub(r' -MD| -MT \S+| -MF \S+', '', command))
        command = command.replace(f' -o {target} ', f' -o {new} ').replace(f' -c {path}', f' -c {changed}')
        command = command.replace(' -Werror', ' -w').replace(' -g ', ' ').replace(' -gz ', ' ')
        if self.run(command).returncode != 0:
            return None
        plugin = folder / 'cpu.so'
        link = self.link.replace(f' {target} ', f' {new} ').replace('-o plugins/cpu.so', f'-o {plugin}')
        return plugin if self.run(link + ' -s').returncode == 0 else None


def text_section(path):
    return subprocess.run(['objdump', '-d', '--no-show-raw-insn', '-j', '.text', str(path)], capture_output=True).stdout


def check(tenon, plugin, subjects, cases, budget):
    """The line of the first failed check."""
    command = [tenon, 'plugin', 'check', str(plugin), '--only', f'^(admission|load)|({subjects})', '--cases', str(cases), '--jobs', '1',
               '--seconds', '20']
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    found, begin = None, time.time()
    for line in process.stdout:
        if line.startswith('FAILED') or time.time() - begin > budget:
            found = line.strip() if line.startswith('FAILED') else None
            break
    process.kill()
    process.wait()
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('tenon')
    parser.add_argument('build')
    parser.add_argument('--count', type=int, default=200)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--cases', type=int, default=24)
    parser.add_argument('--at-least', type=float, default=0)
    parser.add_argument('--out')
    a = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parents[2]
    builder = Builder(a.build)
    chance = random.Random(a.seed)
    pool = {}
    for name, subjects in SOURCES.items():
        source = root / 'plugins/cpu' / name
        if source.exists() and name in builder.compile:
            for c in candidates(source):
                pool.setdefault(c[1], []).append(c)
    drawn, seen = [], set()
    kinds = sorted(pool)
    for k in kinds:
        chance.shuffle(pool[k])
    while len(drawn) < a.count * 3 and any(pool.values()):
        kind = kinds[len(seen) % len(kinds)]
        seen.add(len(seen))
        if pool[kind]:
            drawn.append(pool[kind].pop())
    original = text_section(pathlib.Path(a.build) / 'plugins/cpu.so')
    out = open(a.out, 'w') if a.out else sys.stdout
    work = pathlib.Path(tempfile.mkdtemp(dir='/tmp'))
    work.chmod(0o755)

    def one(index):
        name, kind, line, begin, end, new = drawn[index]
        folder = work / str(index)
        folder.mkdir()
        text = (root / 'plugins/cpu' / name).read_text()
        old = text[begin:end]
        plugin = builder.make(name, text[:begin] + new + text[end:], folder)
        result = None
        if plugin is not None and text_section(plugin) != original_stripped:
            result = check(a.tenon, plugin, SOURCES[name], a.cases, 240) or ''
        shutil.rmtree(folder, ignore_errors=True)
        return index, old, result

    # The same link without a change, for comparison.
    base = work / 'base'
    base.mkdir()
    source = next(s for s in SOURCES if s in builder.compile)
    same = builder.make(source, (root / 'plugins/cpu' / source).read_text(), base)
    original_stripped = text_section(same)
    found, total, missed = 0, 0, []
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as workers:
        pending, order = set(), iter(range(len(drawn)))
        while total < a.count:
            while len(pending) < a.jobs and (n := next(order, None)) is not None:
                pending.add(workers.submit(one, n))
            if not pending:
                break
            done, pending = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
            for job in done:
                index, old, result = job.result()
                if result is None or total == a.count:
                    continue
                name, kind, line, _, _, new = drawn[index]
                total += 1
                found += result != ''
                by = result.split()[1] if result else 'NOT FOUND'
                print(f'{total:3} {kind:13} {name}:{line} "{old}" -> "{new}": {by} {result[9:200]}', file=out, flush=True)
        for job in pending:
            job.cancel()
    shutil.rmtree(work, ignore_errors=True)
    print(f'{found} of {total} mutants found, {100 * found / max(total, 1):.1f} %', file=out, flush=True)
    return found < a.at_least / 100 * total


sys.exit(main())
