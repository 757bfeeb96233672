"""Debian's MediaWiki with the test pages: set up in a folder, served on loopback, counted.

As a program it builds and serves a wiki until it is interrupted:
`python -m tests.integration_tests.wikipedia.mediawiki FOLDER`.
"""

import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from contextlib import closing
from pathlib import Path

from tests.integration_tests.wikipedia.pages import dump

HOME = Path("/usr/share/mediawiki")

_SETTINGS = """
if (!getenv('WITHOUT_TEXTEXTRACTS')) { wfLoadExtension('TextExtracts'); }
if (getenv('PRIVATE')) { $wgGroupPermissions['*']['read'] = false; }
$wgJobRunRate = 0;
$wgMainCacheType = CACHE_NONE;
$wgParserCacheType = CACHE_NONE;
$wgRightsText = 'Creative Commons Attribution-ShareAlike 4.0';
$wgRightsUrl = 'https://creativecommons.org/licenses/by-sa/4.0/';
$wgHooks['GetDoubleUnderscoreIDs'][] = static function (array &$ids) { $ids[] = 'disambiguation'; };
$wgExtensionMessagesFiles['TestMagic'] = __DIR__ . '/magic.php';
"""
_MAGIC = "<?php $magicWords = ['en' => ['disambiguation' => [0, '__DISAMBIG__']]];"


def why_not() -> str | None:
    """Say what is missing for a real wiki, if anything is."""
    if shutil.which("php") is None or not (HOME / "maintenance/install.php").is_file():
        return "MediaWiki is not installed: apt-get install mediawiki php-cli php-sqlite3 (Debian)"
    return None


def fast_folder() -> str | None:
    """Name a place in memory where there is one: importing pages is thousands of small writes."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def free_port() -> int:
    """Find a loopback port that nobody uses."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class MediaWiki:
    """A wiki in a folder."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.api_url = f"http://127.0.0.1:{self.port}/api.php"
        self._settings = folder / "conf/LocalSettings.php"
        self._log = folder / f"server-{self.port}.log"
        self._extra = environment
        self._server: subprocess.Popen[bytes] | None = None

    def build(self) -> None:
        """Install the wiki and import the pages."""
        (self.folder / "conf").mkdir(parents=True)
        (self.folder / "data").mkdir()
        self._php(
            "install.php", "--dbtype", "sqlite", "--dbpath", str(self.folder / "data"),
            "--dbname", "wiki", "--server", f"http://127.0.0.1:{self.port}", "--scriptpath", "",
            "--lang", "en", "--confpath", str(self.folder / "conf"), "--pass", "a-long-password-1",
            "--skins", "", "Test", "Admin",
        )  # fmt: skip
        (self.folder / "conf/magic.php").write_text(_MAGIC, encoding="utf-8")
        with self._settings.open("a", encoding="utf-8") as settings:
            settings.write(_SETTINGS)
        pages = self.folder / "pages.xml"
        pages.write_text("".join(dump()), encoding="utf-8")
        for command in (
            ("importDump.php", str(pages)),
            ("rebuildrecentchanges.php",),
            ("rebuildtextindex.php",),
            ("runJobs.php",),
        ):
            self._php(*command)
        # Without statistics a search takes seconds at a few thousand pages.
        with closing(sqlite3.connect(self.folder / "data/wiki.sqlite")) as database:
            database.execute("ANALYZE")
            database.commit()

    def start(self, workers: int = 2) -> None:
        """Serve the wiki and wait until it answers."""
        with self._log.open("ab") as log:
            self._server = subprocess.Popen(
                ["php", "-d", "opcache.enable_cli=1", "-d", "display_errors=0",
                 "-S", f"127.0.0.1:{self.port}", "-t", str(HOME)],
                env={**self._environment(), "PHP_CLI_SERVER_WORKERS": str(workers)},
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        for _ in range(200):
            try:
                with urllib.request.urlopen(f"{self.api_url}?action=query&format=json") as answer:
                    answer.read()
                return
            except OSError:
                time.sleep(0.1)
        msg = f"MediaWiki does not answer: {self._log.read_text(encoding='utf-8')[-2000:]}"
        raise RuntimeError(msg)

    def stop(self) -> None:
        """Stop the server and its workers, which outlive it."""
        if self._server:
            os.killpg(self._server.pid, signal.SIGTERM)
            self._server.wait()
            self._server = None

    def requests(self) -> int:
        """Count the requests that the server has answered, by its own log."""
        log = self._log.read_text(encoding="utf-8", errors="replace")
        return len(re.findall(r"\]: (?:GET|POST) /api\.php", log))

    def _php(self, script: str, *arguments: str) -> None:
        done = subprocess.run(
            ["php", str(HOME / "maintenance" / script), *arguments],
            env=self._environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            msg = f"{script} failed: {done.stdout[-1000:]} {done.stderr[-1000:]}"
            raise RuntimeError(msg)

    def _environment(self) -> dict[str, str]:
        known = {"MW_CONFIG_FILE": str(self._settings)} if self._settings.exists() else {}
        return {**os.environ, **known, **self._extra}


if __name__ == "__main__":
    wiki = MediaWiki(Path(sys.argv[1]))
    wiki.build()
    wiki.start()
    print(wiki.api_url, flush=True)
    try:
        signal.pause()
    except KeyboardInterrupt:
        wiki.stop()
