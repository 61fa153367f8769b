"""Writes patterns.jsonl: what Hugging Face tokenizers (Oniguruma) matches with many patterns. python make_patterns.py

A line: pattern, text, and the matches that are not empty, in order. Made with tokenizers 0.23.3.
"""
import json
import pathlib

from tokenizers import Regex, pre_tokenizers

CL100K = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?%s\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+%s[\r\n]*|\s*[\r\n]%s|\s+(?!\S)|\s+"
PATTERNS = [
    r"\p{L}+", r"\p{^L}+", r"\P{L}", r"\p{Lu}\p{Ll}*", r"\p{M}", r"\p{P}|\p{S}", r"[一-龥぀-ゟ゠-ヿ]+", r"\s+", r"\S+?", r"\w+", r"\W+", r"\b.",
    r"\B.", r"\d+", r"\h+", r"\H+", r"\v", r"\R", r"[\h_]+", r"[\w-]+", r"[\b]", r"\u0041|\x42|\x{43}", r".+", r"(?m:.+)", r"(?m:.)+", r"^.", r".$",
    r"\A.", r".\z", r"a*", r"a+?", r"a++b", r"a?+a", r"a{2}", r"a{,2}", r"a{2,}", r"a{1,2}+", r"a{2}?", r"a{2}+", r"a{1,2}?", r"(?:ab|a){2}+c",
    r"[ab]{2}+", r"a{", r"a{x}", r"{", r"x{,}", r"(?i)the", r"(?i:the)", r"a(?i)b|c", r"(a(?i)b|c)d", r"(?-i:a)", r"(?i-m:A)", r"(a|b)\1", r"(?<n>a)\k<n>",
    r"(?>a+)b?", r"(?=a).", r"(?!a).", r"(?<=a).", r"(?<!a).", r"a(?#note)b", r"[]a]+", r"[^]a]+", r"[a\]]+", r"[[a-c]x]+", r"[a[bc]]+", r"[^a[bc]]+",
    r"[a-f&]+", r"[\p{L}\p{N}]+", r"[^\s\p{L}]+", r"[.\-+]+", r"[!-/:-@\[-`{-~]+", r"\p{N}{1,3}", r"\p{N}{1,3}+", r"[^\n]*\n", r"\s+(?!\S)|\s+",
    r"(?i:'s|'t)", r"'(?:[sdmt]|ll|ve|re)", CL100K % ("", "{1,3}", "", "+"), CL100K % ("+", "{1,3}", "+", ""), CL100K % ("", "", "", "+"),
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s+",
]
TEXTS = [
    "", "a", "aaaaaa", "aaab aab ab b", "abac aaaac ababc", "The the THE thE anthem", "it's IT'S we'Ll 'ſ 'ſ’s", "x\ny\r\nz\n\n w", "12345678 1a22b333 ½²Ⅻ٣",
    "  two  spaces\t\ttabs \n \n", "Ünïcödé e\u0301a\u0300 \u200d\u200c a\u203fb", "中文かなカナ, 。！", "\u180e \u0085 \u2003\u3000|\u200b|\ufeff", "Aⓐ①🄰𝔸 ß ẞ ss SS",
    "ABCdef_GHI-jkl+mno.pqr", "0xDEADbeef xyz", "a{ a{x} {} x{,}", "]a^]b[c", "bad cad abd acd Abd", "if (a<b && c>0) { return \"x\\\\\"; } // done",
]
out = pathlib.Path(__file__).with_name("patterns.jsonl").open("w", encoding="utf-8")
for pattern in PATTERNS:
    split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    for text in TEXTS:
        matches = [m for m, _ in split.pre_tokenize_str(text)] if text else []
        out.write(json.dumps({"pattern": pattern, "text": text, "matches": matches}, ensure_ascii=False) + "\n")
