"""Which path an open file has, asked of the file and not of the path."""

import os
import sys

__all__ = ["path_of"]

if sys.platform == "win32":

    def path_of(fd: int) -> str:
        """Return the real path of an open file.

        Raises:
            OSError: The system does not tell.
        """
        import ctypes
        import msvcrt
        from ctypes import wintypes

        ask = ctypes.WinDLL("kernel32", use_last_error=True).GetFinalPathNameByHandleW
        ask.argtypes = (
            wintypes.HANDLE,
            wintypes.LPWSTR,
            wintypes.DWORD,
            wintypes.DWORD,
        )
        ask.restype = wintypes.DWORD
        buffer = ctypes.create_unicode_buffer(32_768)  # the longest path there is
        length = ask(msvcrt.get_osfhandle(fd), buffer, len(buffer), 0)
        if not 0 < length < len(buffer):
            raise ctypes.WinError(ctypes.get_last_error())
        path = buffer.value
        if path.startswith("\\\\?\\UNC\\"):
            return "\\\\" + path.removeprefix("\\\\?\\UNC\\")
        return path.removeprefix("\\\\?\\")

else:

    def path_of(fd: int) -> str:
        """Return the real path of an open file, as Linux tells it.

        The others open relative to a folder, and need not ask.

        Raises:
            OSError: The system does not tell.
        """
        return os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115 - any text, no path
