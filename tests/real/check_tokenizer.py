#!/usr/bin/env python3
"""Compare token ids with Hugging Face tokenizers, on random tokenizers and random texts.

    python tests/real/check_tokenizer.py [--lossgap build/lossgap] [--seed N] [--tokenizers N] [TOKENIZER.json TEXT…]

Needs the Python package tokenizers. Each random tokenizer takes the vocabulary of tests/golden/tokenizers/small, perhaps without
some bytes, and random pre-tokenizers, normalisers and added tokens; 60 texts go through Hugging Face and through `lossgap tokenize`,
once with and once without special tokens. With arguments: that tokenizer on those files, in documents of 20 kB, instead.
Differences that docs/guide/tokenizers.md names (properties of characters newer than Unicode 14) are avoided, all others count.
"""
import argparse
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unicodedata

os.environ["TOKENIZERS_PARALLELISM"] = "false"
from tokenizers import Tokenizer  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent.parent
BASE = json.loads((HERE / "golden/tokenizers/small/tokenizer.json").read_text(encoding="utf-8"))
BYTES = [t for t in BASE["model"]["vocab"] if len(t) == 1]
CL100K = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?%s\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+%s[\r\n]*|\s*[\r\n]%s|\s+(?!\S)|\s+"
PATTERNS = [
    r"\p{L}+", r"\s+", r"\p{N}{1,3}+", r"[^\s\p{L}\p{N}]+", r"\w+", r"\W", r"\b", r"\B", r"x*", r"\d", r"(?<=a)", r"[a-f&]+",
    r"a{,2}", r"(?i:the|an)", r"\h+", r"\H", " ", r"(?m:.)", r".", r"^", r"$", r"\p{N}", r"[[a-c]x]+", r"(?i)the|b", r"a(?i)b|c",
    r"\p{Lu}\p{Ll}*", r"\S+?", r"(e)\1?", r"\R", r"[^\n]*\n", r"\p{L}{2}?", r"(?>a+)b?", r"\s+(?!\S)|\s+", r"\p{M}", r"\p{P}|\p{S}",
    r"[一-龥぀-ゟ゠-ヿ]+", CL100K % ("", "{1,3}", "", "+"), CL100K % ("+", "{1,3}", "+", ""), CL100K % ("", "", "", "+"),
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
CONTENTS = ["<a>", "<b>", "<c>", "<q>", "q>", "aa", "aaa", "the", "  ", "x", "é!", "e\u0301?", "<a><b>", "\u212b", " a", "1", "中"]
PARTS = CONTENTS + ["a", "b", "c", "The", "THE", " the", " ", "\n", "\r\n", "\t", "12", "é", "\u0301", "\u0323\u0307", "\u1100\u1161\u11a8",
                    "ab", "xx", ".", "'s", "'S", "'\u017f", "'ll", "\u00a0", "\u0085", "\u2003", "\u200b", "\u180e", "_", "-", "文", "ß", "Ⓐ"]


def old(c):
    """In Unicode 14, or of a class (letter, number) that has a stand-in anyway."""
    return unicodedata.category(chr(c)) not in ("Cn", "Cs") or unicodedata.unidata_version != "14.0.0"


def random_text(rng):
    kind = rng.random()
    if kind < .6:
        return "".join(rng.choice(PARTS) for _ in range(rng.randint(0, 40)))
    if kind < .8:
        return "".join(chr(c) for c in (rng.randrange(1, 0x3000) for _ in range(rng.randint(1, 60))) if old(c))
    return "".join(chr(c) for c in (rng.randrange(1, 0x110000) for _ in range(rng.randint(1, 60))) if old(c))


def random_split(rng):
    pattern = {"String": rng.choice([" ", "a", "the", "\n", "aa", "é", "  "])} if rng.random() < .25 else {"Regex": rng.choice(PATTERNS)}
    return {"type": "Split", "pattern": pattern, "behavior": rng.choice(BEHAVIORS), "invert": rng.random() < .5}


def random_tokenizer(rng):
    j = json.loads(json.dumps(BASE))
    steps = [random_split(rng) if rng.random() < .8 else {"type": "Digits", "individual_digits": rng.random() < .5}
             for _ in range(rng.choice([0, 1, 1, 2, 3]))]
    steps.append({"type": "ByteLevel", "add_prefix_space": rng.random() < .25, "trim_offsets": True, "use_regex": rng.random() < .4})
    j["pre_tokenizer"] = steps[0] if len(steps) == 1 and rng.random() < .5 else {"type": "Sequence", "pretokenizers": steps}
    j["normalizer"] = rng.choice([None, {"type": "NFC"}, {"type": "Sequence", "normalizers": [{"type": "NFC"}]}])
    j["post_processor"] = None
    model = j["model"]
    model["ignore_merges"] = rng.random() < .3
    if rng.random() < .3:
        gone = set(rng.sample(BYTES, rng.randint(1, 60)))
        model["vocab"] = {t: i for i, t in enumerate(t for t in model["vocab"] if not set(t) & gone)}
        model["merges"] = [m for m in model["merges"] if not set("".join(m)) & gone]
        if rng.random() < .4:
            model["unk_token"] = "<unk>"
            model["vocab"]["<unk>"] = len(model["vocab"])
    contents = rng.sample(CONTENTS, rng.randint(0, 8))
    j["added_tokens"] = [{"id": 3000 + i, "content": c, "single_word": rng.random() < .15, "lstrip": rng.random() < .15, "rstrip": False,
                          "normalized": rng.random() < .5, "special": rng.random() < .4} for i, c in enumerate(contents)]
    t = Tokenizer.from_str(json.dumps(j))
    for a in j["added_tokens"]:  # Hugging Face numbers them itself
        a["id"] = t.token_to_id(a["content"])
    return j


def ours(lossgap, tokenizer, texts, special, work):
    corpus, data = work / "corpus.jsonl", work / "data.safetensors"
    corpus.write_text("".join(json.dumps({"text": t}) + "\n" for t in texts), encoding="utf-8")
    command = [lossgap, "tokenize", str(corpus), "--tokenizer", str(tokenizer), "-o", str(data)] + ["--parse-special"] * special
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    blob = data.read_bytes()
    size, = struct.unpack_from("<Q", blob)
    header = json.loads(blob[8:8 + size])

    def array(name, kind, width):
        a, b = header[name]["data_offsets"]
        return struct.unpack_from(f"<{(b - a) // width}{kind}", blob, 8 + size + a)
    ids, ends, out, begin = array("token_id", "I", 4), array("doc_token_end", "Q", 8), [], 0
    for end in ends:
        out.append(list(ids[begin:end]))
        begin = end
    return out


def compare(lossgap, path, texts, work, what):
    plain, special = Tokenizer.from_file(str(path)), Tokenizer.from_file(str(path))
    plain.encode_special_tokens = True
    differ = 0
    for t, parse in ((plain, False), (special, True)):
        got = ours(lossgap, path, texts, parse, work)
        assert len(got) == len(texts)
        for text, mine in zip(texts, got):
            theirs = t.encode(text, add_special_tokens=False).ids
            if mine != theirs:
                differ += 1
                print(f"differs ({what}, {'special' if parse else 'plain'}): {text[:200]!r}\n  theirs {theirs[:40]}\n  ours   {mine[:40]}")
    return differ


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--lossgap", default="build/lossgap")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--tokenizers", type=int, default=50)
    p.add_argument("tokenizer", nargs="?")
    p.add_argument("texts", nargs="*")
    args = p.parse_args()
    rng, encodings, differ = random.Random(args.seed), 0, 0
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        if args.tokenizer:
            texts = []
            for f in args.texts:
                t = pathlib.Path(f).read_text(encoding="utf-8", errors="replace")
                texts += [t[i:i + 20000] for i in range(0, len(t), 20000)]
            differ, encodings = compare(args.lossgap, args.tokenizer, texts, work, args.tokenizer), 2 * len(texts)
        for n in range(0 if args.tokenizer else args.tokenizers):
            j = random_tokenizer(rng)
            path = work / "tokenizer.json"
            path.write_text(json.dumps(j), encoding="utf-8")
            texts = [random_text(rng) for _ in range(60)]
            what = f"tokenizer {n}: {json.dumps([j['pre_tokenizer'], j['normalizer'], j['added_tokens']])}"
            differ += compare(args.lossgap, path, texts, work, what)
            encodings += 2 * len(texts)
    print(f"{encodings} encodings compared, {differ} differ")
    sys.exit(differ != 0)


main()
