/* The tables of the method (§3): the families with their classes, and the family of each part of speech. */
#include "tag/tagsets.h"

#include <string.h>

/* Open are the classes that gain new members all the time; a qualifier (very, quite, so) is content in the
   method's table, but of a closed class. */
const lg_tag_family lg_families[LG_N_FAMILIES] = {
    [LG_FAMILY_NONE] = {"none", "none", false},
    [LG_FAMILY_WHITESPACE] = {"whitespace", "none", false},
    [LG_FAMILY_NOUN] = {"noun", "content", true},
    [LG_FAMILY_VERB] = {"verb", "content", true},
    [LG_FAMILY_ADJECTIVE] = {"adjective", "content", true},
    [LG_FAMILY_ADVERB] = {"adverb", "content", true},
    [LG_FAMILY_INTERJECTION] = {"interjection", "content", true},
    [LG_FAMILY_QUALIFIER] = {"qualifier", "content", false},
    [LG_FAMILY_EXISTENTIAL] = {"existential", "function", false},
    [LG_FAMILY_PRONOUN] = {"pronoun", "function", false},
    [LG_FAMILY_DETERMINER] = {"determiner", "function", false},
    [LG_FAMILY_PREPOSITION] = {"preposition", "function", false},
    [LG_FAMILY_CONJUNCTION] = {"conjunction", "function", false},
    [LG_FAMILY_AUX_BE] = {"aux_be", "function", false},
    [LG_FAMILY_AUX_HAVE] = {"aux_have", "function", false},
    [LG_FAMILY_AUX_DO] = {"aux_do", "function", false},
    [LG_FAMILY_MODAL] = {"modal", "function", false},
    [LG_FAMILY_TO] = {"to", "function", false},
    [LG_FAMILY_WH] = {"wh", "function", false},
    [LG_FAMILY_NUMERAL] = {"numeral", "other", false},
    [LG_FAMILY_PARTICLE] = {"particle", "other", false},
    [LG_FAMILY_PUNCTUATION] = {"punctuation", "other", false},
    [LG_FAMILY_OPEN_BRACKET] = {"open_bracket", "other", false},
    [LG_FAMILY_CLOSE_BRACKET] = {"close_bracket", "other", false},
    [LG_FAMILY_OTHER] = {"other", "other", false},
    [LG_FAMILY_IDENTIFIER] = {"identifier", "none", true},
    [LG_FAMILY_KEYWORD] = {"keyword", "none", false},
    [LG_FAMILY_BUILTIN] = {"builtin", "none", false},
    [LG_FAMILY_STRING] = {"string", "none", true},
    [LG_FAMILY_COMMENT] = {"comment", "none", true},
    [LG_FAMILY_NUMBER] = {"number", "none", true},
    [LG_FAMILY_OPERATOR] = {"operator", "none", false},
    [LG_FAMILY_LAYOUT] = {"layout", "none", false},
    [LG_FAMILY_OPEN] = {"open", "none", false},
    [LG_FAMILY_CLOSE] = {"close", "none", false},
    [LG_FAMILY_TEXT] = {"text", "none", true},
    [LG_FAMILY_TAG_NAME] = {"tag_name", "none", false},
    [LG_FAMILY_ATTRIBUTE_NAME] = {"attribute_name", "none", false},
    [LG_FAMILY_ATTRIBUTE_VALUE] = {"attribute_value", "none", true},
    [LG_FAMILY_DOCTYPE] = {"doctype", "none", false},
    [LG_FAMILY_ENTITY] = {"entity", "none", false},
    [LG_FAMILY_COMMAND] = {"command", "none", true},
    [LG_FAMILY_ENVIRONMENT] = {"environment", "none", true},
    [LG_FAMILY_GROUP_TEXT] = {"group_text", "none", true},
    [LG_FAMILY_MATH] = {"math", "none", false},
};

/* Rows of tags with single blanks between and around them. */
typedef struct tagset_row {
    lg_family family;
    const char *tags;
} tagset_row;

/* Brown, as in the method; be, hv and do with their forms are found by prefix. */
static const tagset_row brown[] = {
    {LG_FAMILY_NOUN, " nn nn$ nns nns$ np np$ nps nps$ nr nr$ nrs "},
    {LG_FAMILY_VERB, " vb vbd vbg vbn vbz "},
    {LG_FAMILY_ADJECTIVE, " jj jj$ jjr jjs jjt "},
    {LG_FAMILY_ADVERB, " rb rb$ rbr rbt rn "},
    {LG_FAMILY_INTERJECTION, " uh "},
    {LG_FAMILY_QUALIFIER, " ql qlp "},
    {LG_FAMILY_EXISTENTIAL, " ex "},
    {LG_FAMILY_PRONOUN, " pp$ pp$$ ppl ppls ppo pps ppss pn pn$ "},
    {LG_FAMILY_DETERMINER, " at dt dt$ dti dts dtx abl abn abx ap ap$ "},
    {LG_FAMILY_PREPOSITION, " in "},
    {LG_FAMILY_CONJUNCTION, " cc cs "},
    {LG_FAMILY_MODAL, " md "},
    {LG_FAMILY_TO, " to "},
    {LG_FAMILY_WH, " wdt wp$ wpo wps wql wrb "},
    {LG_FAMILY_NUMERAL, " cd cd$ od "},
    {LG_FAMILY_PARTICLE, " rp "},
    {LG_FAMILY_PUNCTUATION, " , . : ' `` '' -- * "},
    {LG_FAMILY_OPEN_BRACKET, " ( "},
    {LG_FAMILY_CLOSE_BRACKET, " ) "},
};

/* Universal tags are coarser than the families: a tag goes where most of its words in the treebanks go.
   AUX: be, have, do and the modals, mostly be. PART: to, not and 's, mostly to. PRON: the wh-pronouns and
   existential there too. PUNCT: brackets too. ADP: particles too. Of a wrong family such a word is mostly of
   the right class, but not a wh-adverb among ADV, a particle, or the word not. */
static const tagset_row upos[] = {
    {LG_FAMILY_NOUN, " NOUN PROPN "},
    {LG_FAMILY_VERB, " VERB "},
    {LG_FAMILY_ADJECTIVE, " ADJ "},
    {LG_FAMILY_ADVERB, " ADV "},
    {LG_FAMILY_INTERJECTION, " INTJ "},
    {LG_FAMILY_PRONOUN, " PRON "},
    {LG_FAMILY_DETERMINER, " DET "},
    {LG_FAMILY_PREPOSITION, " ADP "},
    {LG_FAMILY_CONJUNCTION, " CCONJ SCONJ "},
    {LG_FAMILY_AUX_BE, " AUX "},
    {LG_FAMILY_TO, " PART "},
    {LG_FAMILY_NUMERAL, " NUM "},
    {LG_FAMILY_PUNCTUATION, " PUNCT "},
};

/* Penn tags, with those that the treebanks of the web added (HYPH, NFP, ADD, AFX, GW). Verbs include the
   auxiliaries, and RB includes not, which makes content words of function words; IN includes the
   subordinating conjunctions; TO, in the Penn Treebank itself, the preposition; POS is the 's of possessives,
   in UPOS a PART. */
static const tagset_row penn[] = {
    {LG_FAMILY_NOUN, " NN NNS NNP NNPS "},
    {LG_FAMILY_VERB, " VB VBD VBG VBN VBP VBZ "},
    {LG_FAMILY_ADJECTIVE, " JJ JJR JJS "},
    {LG_FAMILY_ADVERB, " RB RBR RBS "},
    {LG_FAMILY_INTERJECTION, " UH "},
    {LG_FAMILY_EXISTENTIAL, " EX "},
    {LG_FAMILY_PRONOUN, " PRP PRP$ "},
    {LG_FAMILY_DETERMINER, " DT PDT "},
    {LG_FAMILY_PREPOSITION, " IN "},
    {LG_FAMILY_CONJUNCTION, " CC "},
    {LG_FAMILY_MODAL, " MD "},
    {LG_FAMILY_TO, " TO "},
    {LG_FAMILY_WH, " WDT WP WP$ WRB "},
    {LG_FAMILY_NUMERAL, " CD "},
    {LG_FAMILY_PARTICLE, " RP POS "},
    {LG_FAMILY_PUNCTUATION, " , . : `` '' HYPH NFP "},
    {LG_FAMILY_OPEN_BRACKET, " -LRB- "},
    {LG_FAMILY_CLOSE_BRACKET, " -RRB- "},
};

static bool has_tag(const char *tags, const char *tag, size_t length) {
    for (const char *at = tags + 1; *at;) {
        size_t n = strcspn(at, " ");
        if (n == length && memcmp(at, tag, n) == 0) return true;
        at += n + 1;
    }
    return false;
}

static lg_family look_up(const tagset_row *rows, size_t n_rows, const char *tag, size_t length) {
    for (size_t i = 0; i < n_rows; i++)
        if (has_tag(rows[i].tags, tag, length)) return rows[i].family;
    return LG_FAMILY_OTHER;
}

/* A foreign word goes with the tag after fw-, a compound with its first part, a negation with what is
   negated, a headline, title or cited word with its tag. */
static lg_family brown_family(const char *tag) {
    if (strncmp(tag, "fw-", 3) == 0) tag += 3;
    size_t length = strcspn(tag, "+");
    while (length > 3 && (memcmp(tag + length - 3, "-hl", 3) == 0 ||
                          memcmp(tag + length - 3, "-tl", 3) == 0 || memcmp(tag + length - 3, "-nc", 3) == 0))
        length -= 3;
    if (length > 1 && tag[length - 1] == '*') length--;
    if (length >= 2 && memcmp(tag, "be", 2) == 0) return LG_FAMILY_AUX_BE;
    if (length >= 2 && memcmp(tag, "hv", 2) == 0) return LG_FAMILY_AUX_HAVE;
    if (length >= 2 && memcmp(tag, "do", 2) == 0) return LG_FAMILY_AUX_DO;
    return look_up(brown, sizeof brown / sizeof *brown, tag, length);
}

lg_family lg_family_of_tag(const char *tagset, const char *tag) {
    if (strcmp(tagset, "brown") == 0) return brown_family(tag);
    if (strcmp(tagset, "upos") == 0) return look_up(upos, sizeof upos / sizeof *upos, tag, strlen(tag));
    if (strcmp(tagset, "penn") == 0) return look_up(penn, sizeof penn / sizeof *penn, tag, strlen(tag));
    return LG_FAMILY_OTHER;
}
