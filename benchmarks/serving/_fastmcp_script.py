"""FastMCP's own provider of a folder of skills; runs where FastMCP is installed."""

import sys
from pathlib import Path

from fastmcp import FastMCP
from fastmcp.server.providers.skills import SkillsDirectoryProvider


def main() -> None:
    """Serve until the process is stopped."""
    folder, port = Path(sys.argv[1]), int(sys.argv[2])
    server = FastMCP("peer", providers=[SkillsDirectoryProvider(roots=folder)])
    server.run(
        transport="http",
        host="127.0.0.1",
        port=port,
        show_banner=False,
        json_response=True,
        log_level="ERROR",
    )


if __name__ == "__main__":
    main()
