"""Fitted models as files."""

from srsg.persistence.models import FORMAT, check_skops, load_model, save_model

__all__ = ["FORMAT", "check_skops", "load_model", "save_model"]
