from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from d9mlint.kernels.source.preprocess import MAX_TEXT, Macro, Undefined, apply, cleaned, directives, expanded, table


def run(source: str, text: str) -> str:
    return expanded(text, table(directives(cleaned(source.encode()))))


def test_comments_become_blanks_and_strings_stay() -> None:
    source = b'a /* x\ny */ "// no // comment" // gone\nb \'"\' // "\n'
    text = cleaned(source)
    assert len(text) == len(source)
    assert text.split() == ["a", '"//', "no", "//", 'comment"', "b", "'\"'"]
    assert text.count("\n") == source.count(b"\n")


def test_a_directive_is_read_with_its_continued_lines() -> None:
    (macro,) = directives("#define  F(a, \\\n   b) a \\\r\n  + b\nnext\n")
    assert isinstance(macro, Macro)
    assert (macro.name, macro.parameters) == ("F", ("a", "b"))
    assert macro.body.split() == ["a", "+", "b"]
    assert macro.end == len("#define  F(a, \\\n   b) a \\\r\n  + b")


def test_an_object_like_macro_has_no_parameters_even_before_parentheses() -> None:
    (macro,) = directives("#define PAIR (1, 2)\n")
    assert isinstance(macro, Macro)
    assert macro.parameters is None
    assert macro.body == "(1, 2)"


def test_undef_ends_a_macro_and_a_second_definition_without_it_is_another_meaning() -> None:
    text = "#define A 1\n#undef A\n#define B 1\n#else\n#define B 2\n"
    found = directives(text)
    assert [type(d) for d in found] == [Macro, Undefined, Macro, Macro]
    macros = table(found)
    assert "A" not in macros
    assert [m.body for m in macros["B"]] == ["1", "2"]
    assert expanded("B", macros) == "1 2"


def test_an_empty_branch_does_not_hide_the_other_one() -> None:
    assert run("#if GPU\n#define R(t) use(t)\n#else\n#define R(t)\n#endif\n", "R(float)") == "use(float)"


def test_a_macro_counts_only_after_its_definition() -> None:
    text = "#define A 1\n"
    defined: dict[str, tuple[Macro, ...]] = {}
    (directive,) = directives(text)
    assert expanded("A", defined) == "A"
    apply(directive, defined)
    assert expanded("A", defined) == "1"


def test_pasting_and_quoting() -> None:
    source = "#define REG(op, dev) Name(#op).Device(DEVICE_##dev) op ## Op<dev ## Device>\n#define GPU wrong\n"
    assert run(source, "REG(Add, GPU)") == 'Name("Add").Device(DEVICE_GPU) AddOp<GPUDevice>'


def test_arguments_keep_their_commas_in_brackets() -> None:
    assert run("#define F(a, b) [a|b]\n", "F((1, 2), g(3, 4))") == "[(1, 2)|g(3, 4)]"


def test_variable_arguments() -> None:
    assert run("#define F(name, ...) name<__VA_ARGS__>\n", "F(Op, GPU, float, int)") == "Op<GPU, float, int>"


def test_macros_in_macros_and_arguments() -> None:
    source = "#define TYPE float\n#define ONE(t, d) use(t, d);\n#define BOTH(t) ONE(t, CPU) ONE(t, GPU)\n"
    assert run(source, "BOTH(TYPE)") == "use(float, CPU); use(float, GPU);"


def test_a_type_list_of_tensorflow_applies_its_argument() -> None:
    source = "#define REG(t) use(t);\n"
    assert run(source, "TF_CALL_float(REG) TF_CALL_GPU_NUMBER_TYPES(REG)") == "use(float); use(GPU_NUMBER_TYPES);"


def test_a_function_like_macro_without_arguments_is_left_alone() -> None:
    assert run("#define F(x) x\n", "F;") == "F;"


def test_words_in_strings_are_no_macros() -> None:
    assert run("#define A 1\n", 'f("A", A)') == 'f("A", 1)'


def test_recursion_ends() -> None:
    assert run("#define A B A\n#define B A B\n", "A") == "A B A"
    assert run("#define F(x) F(F(x))\n", "F(1)") == "F(F(1))"


def test_an_explosion_ends() -> None:
    source = "".join(f"#define A{i} A{i + 1} A{i + 1} A{i + 1} A{i + 1}\n" for i in range(25))
    assert len(run(source, "A0")) < MAX_TEXT


@given(st.text(alphabet="AB#define()\\\n \"/*',x", max_size=200))
def test_any_text_is_read_without_failing(text: str) -> None:
    source = cleaned(text.encode())
    assert len(source) == len(text)
    found = directives(source)
    assert all(0 <= d.start < d.end <= len(source) for d in found)
    expanded(source, table(found))


@given(st.binary(max_size=200))
def test_cleaning_keeps_every_line(data: bytes) -> None:
    assert cleaned(data).count("\n") == data.count(b"\n")
