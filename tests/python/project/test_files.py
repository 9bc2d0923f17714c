"""Where imports lead."""

from __future__ import annotations

from d9mlint.python.project.files import Project

_FILES = {
    "lib/os.py": b"",
    "lib/json.py": b"",
    "lib/editor/__init__.py": b"",
    "lib/editor/keys.py": b"",
    "app/keys.py": b"",
}


def test_only_its_own_package_is_part_of_a_program_in_the_standard_library() -> None:
    project, roots = Project(_FILES.get), ("app", "lib")
    assert project.base_of("json", roots, "lib/editor/keys.py") is None
    assert project.base_of("editor.keys", roots, "lib/editor/__init__.py") == "lib/editor/keys"
    assert project.base_of("editor.keys", roots, "lib/json.py") is None
    assert project.base_of("keys", roots, "lib/json.py") == "app/keys"
