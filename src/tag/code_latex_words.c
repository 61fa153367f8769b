/* The commands and environments of LaTeX that the plain lexer knows: what their arguments are. */
#include <string.h>

#include "tag/code_latex.h"

/* Names between single blanks; the arguments of all of them. */
typedef struct words {
    const char *names;
    const char *arguments;
} words;

static const words commands[] = {
    {" label ref eqref pageref vref Vref vpageref autoref autopageref nameref cref Cref cpageref Cpageref "
     "namecref "
     "nameCref lcnamecref labelcref labelcpageref fref Fref subref hyperlink hypertarget hyperref bibitem "
     "nocite "
     "cite Cite citet Citet citep Citep citealt Citealt citealp Citealp citeauthor Citeauthor citeyear "
     "citeyearpar "
     "citetitle citedate citeurl citenum fullcite parencite Parencite footcite footfullcite footcitetext "
     "textcite "
     "Textcite smartcite Smartcite supercite autocite Autocite citetext pagestyle thispagestyle "
     "pagenumbering "
     "selectlanguage foreignlanguage gls Gls GLS glspl Glspl acrshort acrlong acrfull acs acl acf ac Ac acp "
     "stepcounter "
     "refstepcounter value arabic roman Roman alph Alph fnsymbol usebox newcounter newboolean color "
     "pagecolor "
     "csname bibliographystyle newlength newsavebox theoremstyle usecolortheme usetheme gdef newif ",
     "k"},
    {" crefrange Crefrange cpagerefrange counterwithin counterwithout addtoreset ", "kk"},
    {" textcolor colorbox mathcolor hyperdef newtheorem declaretheorem newglossaryentry "
     "longnewglossaryentry ",
     "kt"},
    {" input include includeonly InputIfFileExists IfFileExists includegraphics includesvg includepdf "
     "documentclass "
     "documentstyle usepackage RequirePackage LoadClass PassOptionsToPackage ProvidesPackage ProvidesClass "
     "ProvidesFile "
     "NeedsTeXFormat addbibresource bibliography verbatiminput VerbatimInput lstinputlisting inputminted "
     "graphicspath "
     "usetikzlibrary usepgflibrary RequirePackageWithOptions LoadClassWithOptions ",
     "p"},
    {" import subimport inputfrom subimportfrom includefrom subincludefrom ", "pp"},
    {" url nolinkurl path href ", "u"},
    {" hspace vspace mspace hskip fontsize setstretch geometry hypersetup lstset tikzset pgfplotsset sisetup "
     "captionsetup "
     "setlist lstdefinestyle makebox framebox parbox raisebox scalebox rotatebox linespread enlargethispage "
     "addvspace columnbreak pagebreak linebreak setkeys ",
     "v"},
    {" setlength addtolength settowidth setcounter addtocounter setboolean ", "kv"},
    {" rule resizebox ", "vv"},
    {" definecolor ", "kkv"},
    {" multicolumn ", "vvt"},
    {" multirow ", "vvt"},
    {" newenvironment renewenvironment newacronym definecolorset ", "ktt"},
    {" ensuremath ", "m"},
    {" sqrt xrightarrow xleftarrow ", "x"},
    {" text mbox hbox vbox fbox textrm textbf textit textsf texttt textsc textup textmd textsl textnormal "
     "emph underline "
     "intertext shortintertext tag footnote section subsection subsubsection chapter part paragraph "
     "subparagraph caption "
     "title author date thanks ",
     "t"},
    {NULL, NULL},
};

static const struct {
    const char *names;
    lg_latex_kind kind;
} kinds[] = {
    {" begin ", LG_LATEX_BEGIN_COMMAND},
    {" end ", LG_LATEX_END_COMMAND},
    {" iffalse ", LG_LATEX_IF_FALSE},
    {" verb Verb lstinline mintinline ", LG_LATEX_VERB},
    {" path ", LG_LATEX_PATH_VERB},
    {" ExplSyntaxOn ProvidesExplPackage ProvidesExplClass ProvidesExplFile ", LG_LATEX_EXPL_ON},
    {" ExplSyntaxOff ", LG_LATEX_EXPL_OFF},
    {" operatorname hspace tag ", LG_LATEX_STARRED},
    {" left right bigl bigr Bigl Bigr biggl biggr Biggl Biggr let glet def gdef edef xdef setcounter "
     "addtocounter "
     "newcounter value arabic alph Alph roman Roman fnsymbol color textcolor author and fi ",
     LG_LATEX_MISREAD},
    {NULL, LG_LATEX_ORDINARY},
};

static const words environments[] = {
    {" tabular array longtable supertabular minipage multicols thebibliography list alignat alignedat "
     "xalignat adjustwidth "
     "minted wrapfigure longtabu tabu tblr NiceTabular IEEEeqnarray subfigure ",
     "v"},
    {" tabularx tabulary wraptable ", "vv"},
    {" filecontents ", "p"},
    {NULL, NULL},
};

static const char math_environments[] = " math displaymath equation multline eqnarray align aligned array "
                                        "split alignat alignedat gather gathered flalign "
                                        "xalignat xxalignat IEEEeqnarray dmath dgroup darray matrix pmatrix "
                                        "bmatrix Bmatrix vmatrix Vmatrix smallmatrix "
                                        "cases dcases rcases numcases subnumcases empheq multlined eqnarray ";
static const char verbatim_environments[] =
    " verbatim Verbatim BVerbatim LVerbatim SaveVerbatim VerbatimOut spverbatim verbatimtab lstlisting "
    "minted filecontents "
    "asy asydef pycode luacode sagesilent sageblock Sinput Soutput Schunk ";
static const char comment_environments[] = " comment ";
static const char units[] = " pt mm cm in ex em mu bp pc dd cc sp nd nc px fil fill filll true ";

enum { LONGEST_NAME = 40 };

static bool is_in(const char *list, const char *name, size_t length) {
    char word[LONGEST_NAME + 3];
    if (!length || length > LONGEST_NAME) return false;
    word[0] = ' ';
    memcpy(word + 1, name, length);
    memcpy(word + 1 + length, " ", 2);
    return strstr(list, word) != NULL;
}

/* Without a star at the end. */
static size_t bare(const char *name, size_t length) {
    return length && name[length - 1] == '*' ? length - 1 : length;
}

static const char *look_up(const words *rows, const char *name, size_t length) {
    if (length > LONGEST_NAME || memchr(name, ' ', length) || memchr(name, 0, length)) return NULL;
    for (; rows->names; rows++)
        if (is_in(rows->names, name, length)) return rows->arguments;
    return NULL;
}

lg_latex_command lg_latex_find_command(const char *name, size_t length) {
    lg_latex_command found = {LG_LATEX_ORDINARY, ""};
    for (size_t i = 0; kinds[i].names; i++)
        if (is_in(kinds[i].names, name, length)) found.kind = kinds[i].kind;
    const char *arguments = look_up(commands, name, length);
    if (arguments) found.arguments = arguments;
    return found;
}

const char *lg_latex_environment_arguments(const char *name, size_t length) {
    return look_up(environments, name, bare(name, length));
}

bool lg_latex_is_math_environment(const char *name, size_t length) {
    return is_in(math_environments, name, bare(name, length));
}

bool lg_latex_is_verbatim_environment(const char *name, size_t length, bool *comment) {
    *comment = is_in(comment_environments, name, length);
    return *comment || is_in(verbatim_environments, name, bare(name, length));
}

bool lg_latex_is_number(const char *word, size_t length) {
    size_t i = 0, digits = 0;
    if (i < length && (word[i] == '-' || word[i] == '+')) i++;
    for (; i < length && ((word[i] >= '0' && word[i] <= '9') || word[i] == '.'); i++)
        digits += word[i] != '.';
    return digits &&
           (i == length || is_in(units, word + i, length - i) || (length - i == 1 && word[i] == '%'));
}
