"""An OAuth server on loopback that gives out tokens, as far as we see of one."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import TracebackType
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

RESOURCE = "https://skills.test/mcp"


class Issuer:
    """Serves its keys, and signs claims with them."""

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.asked = 0
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked += 1
                body = json.dumps({"keys": [issuer.jwk]}).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Say nothing."""

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def jwk(self) -> dict[str, Any]:
        public = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {**public, "kid": "one", "use": "sig", "alg": "RS256"}

    def sign(self, key: rsa.RSAPrivateKey | None = None, **claims: object) -> str:
        """Return a token; a claim None is left out."""
        usual = {
            "iss": self.url,
            "aud": RESOURCE,
            "sub": "ana",
            "client_id": "desk",
            "scope": "skills:read openid",
            "exp": int(time.time()) + 600,
        }
        every = {k: v for k, v in {**usual, **claims}.items() if v is not None}
        return jwt.encode(every, key or self.key, "RS256", headers={"kid": "one"})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
