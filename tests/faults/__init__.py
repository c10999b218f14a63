"""Faults made on purpose, and what becomes of a fit: ``python -m faults`` writes the page.

Every scenario ends in one of three ways: the same bits as an undisturbed fit, one clear error, or
something that must not be.
"""
