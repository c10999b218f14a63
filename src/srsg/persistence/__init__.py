"""Fitted models as files."""

from srsg.persistence.models import FORMAT, load_model, save_model

__all__ = ["FORMAT", "load_model", "save_model"]
