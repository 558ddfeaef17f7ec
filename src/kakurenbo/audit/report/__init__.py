"""What an audit found, laid out for people: HTML, Markdown, pictures, notebooks. Nothing is computed here."""

from kakurenbo.audit.report.html import html_audit
from kakurenbo.audit.report.markdown import markdown_audit
from kakurenbo.audit.report.notebook import notebook_audit
from kakurenbo.audit.report.pictures import audit_pictures

__all__ = ["audit_pictures", "html_audit", "markdown_audit", "notebook_audit"]
