"""Tests of the docstores."""
