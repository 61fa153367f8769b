"""Compares the leaves of Python files, byte by byte, with CPython's tokenize.

Usage: check_tokenize.py LEAVES FILES [--every N] [--show N] [FOLDER]
LEAVES is the program that prints leaves; of the *.py below FOLDER (default: the standard library) every Nth is taken.
Files that
are no Python 3 in UTF-8 are left out: tokenize says nothing of them. Prints the share of agreeing bytes per category; fails below 99.9 % in any that has 10 000 bytes.
"""
import io, keyword, os, subprocess, sys, sysconfig, token, tokenize, warnings

LEAF = {  # leaf -> category
    "whitespace": "white", "python.continuation": "white", "python.dedent": "white",
    "python.newline": "NEWLINE", "python.indent": "INDENT", "python.comment": "COMMENT", "python.number": "NUMBER",
    "python.keyword": "keyword", "python.keyword.soft": "name", "python.identifier": "name", "python.builtin": "name",
    "python.error": "error",
}
STRINGS = ("python.string", "python.fstring", "python.bytes", "python.docstring", "python.format", "python.open.quote", "python.close.quote")


def category(leaf):
    while leaf and leaf not in LEAF:
        if leaf in STRINGS:
            return "STRING"
        leaf = leaf.rpartition(".")[0]
    return LEAF.get(leaf, "OP")


def tokens(text):
    """Categories of the bytes by tokenize; None where it refuses."""
    starts, lines = [0], io.BytesIO(text).readlines()
    for line in lines:
        starts.append(starts[-1] + len(line))
    out = ["white"] * len(text)
    try:
        stream = list(tokenize.tokenize(io.BytesIO(text).readline))
        encoding = stream[0].string
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "source", "exec", dont_inherit=True)
    except (SyntaxError, tokenize.TokenError, ValueError, RecursionError, MemoryError, OverflowError):
        return None
    if encoding not in ("utf-8", "utf-8-sig"):
        return None
    bom = 3 if text.startswith(b"\xef\xbb\xbf") else 0

    def offset(row, column):
        if row > len(lines):
            return len(text)
        line = lines[row - 1]
        skip = bom if row == 1 else 0
        return starts[row - 1] + skip + len(line[skip:].decode("utf-8")[:column].encode("utf-8"))

    opened = []
    for t in stream:
        kind = token.tok_name[t.type]
        if kind in ("ENCODING", "NL", "DEDENT", "ENDMARKER"):
            continue
        if kind == "NAME":
            kind = "keyword" if keyword.iskeyword(t.string) else "name"
        begin, end = offset(*t.start), offset(*t.end)
        if kind.startswith(("FSTRING", "TSTRING")):  # 3.12 and later cut formatted strings themselves
            if kind.endswith("START"):
                opened.append(begin)
            elif kind.endswith("END"):
                out[opened[-1]:end] = ["STRING"] * (end - opened.pop())
            continue
        for i in range(begin, end):
            out[i] = kind
    return out


def main():
    args = sys.argv[1:]
    leaves, every, show, folder = args.pop(0), 1, 0, None
    while args:
        a = args.pop(0)
        if a == "--every":
            every = int(args.pop(0))
        elif a == "--show":
            show = int(args.pop(0))
        else:
            folder = a
    folder = folder or sysconfig.get_paths()["stdlib"]
    files = sorted(os.path.join(d, f) for d, _, fs in os.walk(folder) for f in fs if f.endswith(".py") and "-packages" not in d)[::every]
    total, right, refused, used = {}, {}, 0, 0
    for at in range(0, len(files), 200):
        batch = files[at:at + 200]
        done = subprocess.run([leaves, "python", "-o", *batch], stdout=subprocess.PIPE, check=True).stdout.decode()
        for part in done.split("== ")[1:]:
            path, _, rows = part.partition("\n")
            with open(path, "rb") as f:
                text = f.read()
            want = tokens(text)
            if want is None:
                refused += 1
                continue
            used += 1
            got, quotes = [None] * len(text), 0
            for row in rows.splitlines():
                leaf, begin, end = row.split("\t")
                begin, end = int(begin), int(end)
                quotes += leaf == "python.open.quote"
                # a formatted string is one token of 3.11: fields inside count as its bytes
                got[begin:end] = ["STRING" if quotes else category(leaf)] * (end - begin)
                quotes -= leaf == "python.close.quote"
            last = -9
            for i, (w, g) in enumerate(zip(want, got)):
                total[w] = total.get(w, 0) + 1
                if w == g:
                    right[w] = right.get(w, 0) + 1
                elif show and i != last + 1:
                    show -= 1
                    line = text.count(b"\n", 0, i) + 1
                    print(f"{path}:{line}: {w}, but {g}: {text[max(0, i - 20):i]!r} | {text[i:i + 20]!r}")
                if w != g:
                    last = i
    bad = 0
    for k in sorted(total):
        share = right.get(k, 0) / total[k]
        bad += share < 0.999 and total[k] >= 10000
        print(f"{k:8} {total[k]:9} bytes {100 * share:8.4f} %")
    everything = sum(right.values()) / max(1, sum(total.values()))
    print(f"{'all':8} {sum(total.values()):9} bytes {100 * everything:8.4f} %  of {used} files; {refused} more are no Python 3 in UTF-8")
    return bool(bad or not used or everything < 0.999)


sys.exit(main())
