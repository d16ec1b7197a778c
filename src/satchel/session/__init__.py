"""What one conversation remembers: what was loaded, and what was approved."""

from satchel.session.approvals import Approvals, Approver, reply_of
from satchel.session.asking import question_text
from satchel.session.ledger import Grant, State

__all__ = ["Approvals", "Approver", "Grant", "State", "question_text", "reply_of"]
