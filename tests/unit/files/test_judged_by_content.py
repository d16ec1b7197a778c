"""What a file holds decides, where its name alone says too little."""

from pathlib import Path

import pytest

from satchel import Satchel
from satchel.files import walk_pack
from satchel.load import media_type
from satchel.sources import memory
from satchel.text import is_text, is_unsure
from satchel_store.archives import tar_gz
from satchel_store.release import build_folder
from tests.fakes import pack

CERTIFICATE = b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
PUBLIC: dict[str, bytes] = {
    ".env.example": b"# Settings\nAPI_KEY=\nPORT=3000\nDEBUG=true\n",
    "config/.env.template": b"TOKEN=your-token-here-0123456789abcdef\n",
    "example.env": b'export KEY="changeme-changeme-1234"\nURL=http://localhost:80\n',
    ".env.sample": b"REGION=eu-central-1\nMODEL=gpt-4o\n",
    "assets/slides.key": b"PK\x03\x04rest of a zip\x00",
    "assets/ca.pem": CERTIFICATE,
    "book/intro.asc": b"= Title\n\nA chapter in AsciiDoc.\n",
    "keys/team.asc": b"-----BEGIN PGP PUBLIC KEY BLOCK-----\nmQ\n",
}
SECRET: dict[str, bytes] = {
    ".env": b"",
    ".env.local": b"PORT=3000\n",
    ".env.production": b"API_KEY=\n",
    "prod.env": b"PORT=3000\n",
    "a/.env.example": b"API_KEY=sk0123456789abcdefABCDEF\n",
    "b/.env.example": b"export  TOKEN='ghp0123456789abcdefABCDEF'\n",
    "c/.env.example": b"#\n" * 40_000,
    "server.pem": CERTIFICATE + b"-----BEGIN RSA PRIVATE KEY-----\n",
    "other.pem": b"not a certificate",
    "server.key": b"-----BEGIN PRIVATE KEY-----\n",
    "quiz.key": b"1: b, 2: c\n",
    "me.asc": b"-----BEGIN PGP PRIVATE KEY BLOCK-----\n",
    "mail.asc": b"-----BEGIN PGP MESSAGE-----\n",
    ".ssh/ca.pem": CERTIFICATE,
    "vault.kdbx": b"text\n",
}


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for path, data in {"SKILL.md": pack("a").encode(), **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


@pytest.mark.row("G08", "X08", "F70")
@pytest.mark.parametrize("how", ["folder", "memory", "archive"])
def test_a_template_a_certificate_or_a_document_is_no_key(
    tmp_path: Path, how: str
) -> None:
    files = {**PUBLIC, **SECRET}
    if how == "folder":
        skills = Satchel(write(tmp_path / "a", files))
    elif how == "memory":
        skills = Satchel(memory({"a": {"SKILL.md": pack("a"), **files}}))
    else:
        every = {"SKILL.md": pack("a").encode(), **files}
        named = {f"a/{path}": data for path, data in every.items()}
        (tmp_path / "a.tar.gz").write_bytes(tar_gz(named.items()))
        skills = Satchel(tmp_path / "a.tar.gz")

    (entry,) = skills.catalog

    assert set(entry.resources) == set(PUBLIC)
    notes = [f.message for f in skills.findings if f.code == "files-left-out"]
    assert any(f"key material ({len(SECRET)} entries)" in note for note in notes), notes


def test_what_was_listed_is_released_and_read_again(tmp_path: Path) -> None:
    with Satchel(write(tmp_path / "a", PUBLIC)) as skills:
        build_folder(skills, tmp_path / "dist")

    (entry,) = Satchel(tmp_path / "dist").catalog

    assert set(entry.resources) == set(PUBLIC)


def test_a_link_is_not_followed_to_judge_it(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"PORT=1\n")
    folder = write(tmp_path / "a", {})
    (folder / ".env.example").symlink_to(tmp_path / "secret")
    (folder / "example.env").mkdir()

    walked = walk_pack(str(folder))

    assert [file.path for file in walked.files] == ["SKILL.md"]


@pytest.mark.row("G23", "F70")
@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("form.pdf", b"%PDF-1.7\n%text only, and no NUL\n", "application/pdf"),
        ("a.txt", b"%PDF-1.7\n", "application/octet-stream"),
        ("a.gif", b"GIF89a!!", "image/gif"),
        ("a.jpg", b"\xff\xd8\xff\xe0JFIF", "image/jpeg"),
        ("a.docx", b"PK\x03\x04word", "application/octet-stream"),
        ("a.pdf", b"A plain text.\n", "text/plain"),
    ],
)
def test_a_signature_counts_more_than_a_name(name: str, data: bytes, kind: str) -> None:
    assert is_text(data) is (kind == "text/plain")
    assert media_type(name, text=is_text(data)).startswith(kind.partition("/")[0])


TEXTS = {
    "cp1251": "Используйте, когда нужно заполнить форму.",
    "koi8-r": "Используйте, когда нужно заполнить форму.",
    "shift_jis": "フォームに記入するときに使います。",
    "euc_jp": "フォームに記入するときに使います。",
    "gbk": "需要填写表格时使用。",
    "big5": "需要填寫表格時使用",
    "euc_kr": "양식을 작성할 때 사용합니다.",
    "cp1253": "Όταν συμπληρώνετε φόρμα.",
    "cp1255": "השתמש בזה כאשר ממלאים טופס.",
    "cp1250": "Użyj, gdy trzeba wypełnić i żeby było łatwe, może być.",
    "mac_roman": "Répondez, même où il a été déjà prévu.",
    "cp437": "Für Größen über fünf Meter.",
}


@pytest.mark.row("C19", "G23", "F70")
@pytest.mark.parametrize("encoding", [*TEXTS])
def test_what_would_be_nonsense_is_not_listed_and_says_so(encoding: str) -> None:
    data = pack("a", description=TEXTS[encoding]).encode(encoding)
    named = {"SKILL.md": pack("b").encode(), "references/x.md": data}
    skills = Satchel(memory({"a": {"SKILL.md": data}, "b": named}))

    assert [entry.id for entry in skills.catalog] == ["b"]
    (error,) = [f for f in skills.findings if f.code == "unknown-encoding"]
    assert (error.severity, error.path) == ("error", "memory/a/SKILL.md")
    assert skills.load("b", "x.md").is_binary


@pytest.mark.parametrize(
    "text",
    [
        "R\u00e9pondez \u00ab\u00a0\u00c0 l\u2019heure\u00a0\u00bb : o\u00f9",
        "F\u00fcr Gr\u00f6\u00dfen \u00fcber f\u00fcnf; \u201eMa\u00dfe\u201c",
        "N\u00e3o s\u00e3o suficientes as a\u00e7\u00f5es; cora\u00e7\u00e3o",
        "\u00bfQu\u00e9? \u00a1\u00d3yeme! El a\u00f1o, ping\u00fcino",
        "Anv\u00e4nd n\u00e4r n\u00e5gon fr\u00e5gar; 5 m\u00b2, 20 \u00b0C, 3 \u20ac",
        "caf\u00e9",
    ],
)
def test_what_is_windows_1252_is_read_as_before(text: str) -> None:
    data = pack("a", description=text).encode("cp1252")

    assert not is_unsure(data)
    skills = Satchel(memory({"a": {"SKILL.md": data}}))
    assert [entry.description for entry in skills.catalog] == [text]


@pytest.mark.parametrize(
    "data",
    [
        "\u00dcber \u65e5\u672c\u8a9e, ".encode() * 9 + b"\xf0\x9f\x98 end",
        b"Plain, and one broken \xf0\x9f\x98 sign.",
        b"Plain, and one \x8d byte.",
        "\ufeff\u0418\u0441".encode("utf-16"),
    ],
)
def test_damage_is_no_other_encoding(data: bytes) -> None:
    assert not is_unsure(data)
