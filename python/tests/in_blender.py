"""A server of the tests: runs scripts in a Blender that `import bpy` starts, with the extension of the zip that it is given.

Each line of standard input is a script as JSON; each line of the answers has what the script assigned to `result`, what was printed
(Blender prints the reports of operators), and the error that ended it.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

answers = os.fdopen(os.dup(1), "w", encoding="utf-8")


def meshes(bpy: Any) -> list[Any]:
    """The visible meshes, by name."""
    return sorted((one for one in bpy.context.scene.objects if one.type == "MESH" and one.visible_get()), key=lambda one: str(one.name))


def run(script: str, bpy: Any, zipped: str) -> dict[str, object]:
    answer: dict[str, object] = {}
    with tempfile.TemporaryFile() as printed:
        os.dup2(printed.fileno(), 1)
        values: dict[str, Any] = {"bpy": bpy, "Path": Path, "zipped": zipped, "meshes": lambda: meshes(bpy), "result": None}
        try:
            # A new, empty file; the extension stays enabled.
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
            exec(script, values)
        except Exception as error:
            answer["error"] = f"{type(error).__name__}: {error}"
        sys.stdout.flush()
        printed.seek(0)
        answer["printed"] = printed.read().decode(errors="replace")
    answer["result"] = values["result"]
    return answer


def main() -> None:
    import bpy  # type: ignore[import-not-found, unused-ignore]

    bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default", enable_on_install=True)
    for line in sys.stdin:
        answers.write(json.dumps(run(json.loads(line), bpy, sys.argv[1])) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
