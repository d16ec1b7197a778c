"""What one conversation remembers: what was loaded, and what was approved."""

from satchel.session.approvals import Approvals, Approver
from satchel.session.ledger import Grant, State

__all__ = ["Approvals", "Approver", "Grant", "State"]
