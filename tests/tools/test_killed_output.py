"""Files and folders are written whole or not at all: writers killed before each step, and cleanup by the next one."""

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import FrameType

import pytest

from folders import ROOT, contents
from holisticbias.errors import OutputError
from holisticbias.output import (
    new_file,
    new_folder,
    refuse_file,
    refuse_target,
    resumed_folder,
    write_file,
    write_files,
)
from killed import begun, ended
from repositories import commit_all, git

Write = Callable[[Path, str], None]
EVENTS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.listdir", "os.scandir", "fcntl.flock"}


def ours(folder: Path) -> bool:
    return (folder / "ours").exists()


def fill(folder: Path, text: str) -> None:
    (folder / "below").mkdir(exist_ok=True)
    for name in ("ours", "below/more"):
        (folder / name).write_text(text, "utf-8")


def write_folder(target: Path, text: str) -> None:
    with new_folder(target, ours) as made:
        fill(made, text)


def write_resumed(target: Path, text: str) -> None:
    with resumed_folder(target, text, ours) as made:
        fill(made, text)


def write_one(target: Path, text: str) -> None:
    with new_file(target) as made:
        made.write_text(text, "utf-8")


def write_two(target: Path, text: str) -> None:
    write_files({target: text, target.with_name("other"): text})


def whole(target: Path) -> str:
    """The text that all files of the target share."""
    if target.is_file():
        return target.read_text("utf-8")
    files = contents(target)
    assert set(files) == {"ours", "below/more"}
    (text,) = set(files.values())
    return text.decode()


def die_before(step: int, place: Path) -> None:
    """Kill this process before its ``step``-th operation on files in the folder."""
    steps = count()

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if event not in EVENTS or (event == "open" and not str(arguments[0]).startswith(str(place))):
            return
        if next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def killed_at_every_step(write: Write, target: Path, before: Callable[[], None]) -> Iterator[int]:
    """Kill a writer before its first step, then before its second, and so on until one finishes."""
    for step in count():

        def run(step: int = step) -> None:
            die_before(step, target.parent)
            write(target, "new")

        before()
        code = ended(begun(run))
        if code == 0:
            assert step > 5, "there were steps to be killed at"
            return
        assert code == -signal.SIGKILL
        yield step


@pytest.mark.parametrize("write", [write_folder, write_resumed, write_one, write_two])
def test_the_next_run_after_a_kill_leaves_the_target_alone_with_nothing_beside_it(tmp_path: Path, write: Write) -> None:
    target, others = tmp_path / "target", {"other"} if write is write_two else set()
    for _ in killed_at_every_step(write, target, lambda: write(target, "old")):
        write(target, "next")
        assert whole(target) == "next"
        assert {p.name for p in tmp_path.iterdir()} == {"target", *others}


@pytest.mark.parametrize(("write", "kept"), [(write_folder, set()), (write_resumed, {".target.part"})])
def test_a_kill_leaves_the_old_target_or_the_new_one_even_if_the_next_run_is_refused(
    tmp_path: Path, write: Write, kept: set[str]
) -> None:
    target, missing = tmp_path / "target", 0
    for _ in killed_at_every_step(write, target, lambda: write(target, "old")):
        missing += not target.exists()
        with pytest.raises(OutputError, match="holds something else"):
            refuse_target(target, lambda _: False)
        assert whole(target) in {"old", "new"}
        assert {p.name for p in tmp_path.iterdir()} - kept == {"target"}
    assert missing, "one of the kills was between the two renames"


def test_finished_work_is_kept_if_its_folder_cannot_be_put_in_place(tmp_path: Path) -> None:
    target, whose = tmp_path / "target", tmp_path / "target" / "mine"

    def write() -> set[str]:
        with resumed_folder(target, "plan", ours, "journal") as part:
            found = set(contents(part))
            fill(part, "new")
            (part / "journal").touch()
            if not found - {".plan.json"}:
                target.mkdir()
                whose.touch()
        return found

    with pytest.raises(OutputError, match="holds something else"):
        write()
    assert {path.name for path in tmp_path.iterdir()} == {"target", ".target.part"}
    whose.unlink()
    assert write() == {".plan.json", "ours", "below/more", "journal"}
    assert whole(target) == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_an_interruption_while_the_old_target_is_removed_leaves_nothing_beside_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path / "target", "old")
    remove, interruptions = shutil.rmtree, [KeyboardInterrupt()]

    def interrupted(path: Path) -> None:
        if interruptions:
            raise interruptions.pop()
        remove(path)

    monkeypatch.setattr(shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path / "target", "new")
    assert whole(tmp_path / "target") == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_what_a_killed_command_left_is_not_committed(tmp_path: Path) -> None:
    shutil.copy(ROOT / ".gitignore", tmp_path)
    write_one(tmp_path / "target", "old")

    def write() -> None:
        with new_file(tmp_path / "target"):
            os.kill(os.getpid(), signal.SIGKILL)

    assert ended(begun(write)) == -signal.SIGKILL
    commit_all(tmp_path)
    assert git(tmp_path, "ls-files").split() == [".gitignore", "target"]


def interrupt_after(error: int) -> None:
    """Interrupt this process while a system call fails: Python says so when it begins the next function."""
    errors = count()

    def watch(_: FrameType, event: str, __: object) -> None:
        if event == "c_exception" and next(errors) == error:
            sys.setprofile(interrupt)

    def interrupt(_: FrameType, event: str, __: object) -> None:
        if event == "call":
            sys.setprofile(None)
            raise KeyboardInterrupt

    sys.setprofile(watch)


@pytest.mark.parametrize("write", [write_folder, write_one, write_two])
def test_an_interruption_while_a_system_call_fails_ends_the_command(tmp_path: Path, write: Write) -> None:
    for error in count():

        def run(error: int = error) -> None:
            interrupt_after(error)
            try:
                write(tmp_path / "target", "new")
            except KeyboardInterrupt:
                sys.exit(1)

        if ended(begun(run)) == 0:
            assert error > 5, "there were errors"
            return
        write(tmp_path / "target", "next")
        assert {path.name for path in tmp_path.iterdir()} <= {"target", "other"}


def test_a_first_target_is_whole_or_not_there(tmp_path: Path) -> None:
    target = tmp_path / "target"

    def clear() -> None:
        with new_folder(target, ours):
            pass
        target.rmdir()

    for _ in killed_at_every_step(write_folder, target, clear):
        refuse_target(target, ours)
        assert {p.name for p in tmp_path.iterdir()} <= {"target"}
        assert not target.exists() or whole(target) == "new"


def test_what_a_living_process_writes_is_left_alone(tmp_path: Path) -> None:
    target, (begin, go) = tmp_path / "target", (tmp_path / "begin", tmp_path / "go")
    os.mkfifo(begin)
    os.mkfifo(go)

    def write_slowly() -> None:
        with new_folder(target, ours) as made:
            begin.write_bytes(b".")
            go.read_bytes()
            (made / "ours").write_text("slow", "utf-8")

    process = begun(write_slowly)
    begin.read_bytes()
    write_folder(target, "quick")
    assert whole(target) == "quick"
    assert len(list(tmp_path.glob(".target.*"))) == 1
    go.write_bytes(b".")
    assert ended(process) == 0
    assert contents(target) == {"ours": b"slow"}
    assert {path.name for path in tmp_path.iterdir()} == {"target", "begin", "go"}


@pytest.mark.parametrize(
    "name",
    [
        ".target.holisticbias-0123456789abcdef/mine",  # another file in it
        ".target.holisticbias-0123456789abcdef/new/mine",  # no lock in it
        ".target.holisticbias-0123456789abcde/lock",  # a digit is missing
        ".target.0123456789abcdef/mine",
        ".target2.holisticbias-0123456789abcdef/lock",  # belongs to another target
        ".target.new",
    ],
)
def test_what_merely_looks_like_a_work_folder_is_left_alone(tmp_path: Path, name: str) -> None:
    mine = tmp_path / name
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("mine", "utf-8")
    for write in (write_folder, write_resumed):
        write(tmp_path / "target", "new")
        assert mine.read_text("utf-8") == "mine"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "lock").touch()
    (tmp_path / ".target.holisticbias-fedcba9876543210").symlink_to("elsewhere")
    write_folder(tmp_path / "target", "new")
    assert (tmp_path / "elsewhere" / "lock").exists()


def test_a_name_that_reads_as_a_pattern_means_itself(tmp_path: Path) -> None:
    mine = tmp_path / ".targets.holisticbias-0123456789abcdef" / "lock"
    mine.parent.mkdir()
    mine.touch()
    write_folder(tmp_path / "target.*", "new")
    assert mine.exists()


def test_writers_side_by_side_of_which_some_are_killed(tmp_path: Path) -> None:
    target = tmp_path / "target"

    def writer(number: int) -> Callable[[], None]:
        def write() -> None:
            if number % 3 == 0:
                die_before(5 + 3 * number, tmp_path)
            for _ in range(6):
                write_folder(target, f"writer {number}")

        return write

    processes = [begun(writer(number)) for number in range(12)]
    assert [ended(process) for process in processes] == [0 if number % 3 else -signal.SIGKILL for number in range(12)]
    write_folder(target, "last")
    assert whole(target) == "last"
    assert [p.name for p in tmp_path.iterdir()] == ["target"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (".", "is a folder: name a file"),
        ("file/x.txt", "cannot write to"),
        ("pipe", "or a pipe"),
        ("x" * 300, "cannot write .* name too long"),
        ("x" * 250, "cannot write .* name too long"),  # that of the work folder
        ("x" * 300 + "/y", "cannot write .* name too long"),
    ],
)
@pytest.mark.parametrize("refuse", [refuse_file, lambda target: write_file(target, b"new")])
def test_what_cannot_be_written_is_said(tmp_path: Path, name: str, says: str, refuse: Callable[[Path], None]) -> None:
    (tmp_path / "file").write_bytes(b"old")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match=says):
        refuse(tmp_path / name)
    assert {path.name for path in tmp_path.iterdir()} == {"file", "pipe"}
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("file", "is not a folder: choose another name"),
        ("link", "is not a folder: choose another name"),
        ("folder", "holds something else: choose another folder, or remove it first"),
        (".", "is the current folder, which cannot be replaced: name a folder in it"),
        ("file/new", "cannot write to .*file: it is not a folder"),
        ("file/deeper/new", "cannot write to .*file: it is not a folder"),
        ("x" * 250, "cannot write .* name too long"),
        ("x" * 300, "cannot write .* name too long"),
    ],
)
@pytest.mark.parametrize("refuse", [lambda target, _: refuse_target(target), write_folder, write_resumed])
def test_a_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, says: str, refuse: Write
) -> None:
    (tmp_path / "folder").mkdir()
    for mine in ("file", "folder/note.txt"):
        (tmp_path / mine).write_text("mine", "utf-8")
    (tmp_path / "link").symlink_to("folder")
    before = contents(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match=says):
        refuse(tmp_path / name, "new")
    assert contents(tmp_path) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root searches every folder")
def test_a_folder_in_which_no_file_can_be_reached(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(0o600)
    for refuse in (refuse_file, refuse_target):
        with pytest.raises(OutputError, match=r"cannot write .*closed/x: Permission denied"):
            refuse(tmp_path / "closed" / "x")


def test_files_are_written_all_or_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old", "utf-8")
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(OutputError, match="cannot write"):
        write_files({tmp_path / "a": "new", tmp_path / "file" / "b": "new"})
    assert (tmp_path / "a").read_text("utf-8") == "old"
    assert {p.name for p in tmp_path.iterdir()} == {"a", "file"}
    write_files({tmp_path / "a": "new", tmp_path / "folder" / "b": "new"})
    assert (tmp_path / "folder" / "b").read_text("utf-8") == "new"
