"""`lca lookup`."""

import json


def test_every_place_is_shown(lca, notes):
    """Every sentence of the page that holds the term is shown, and the page is named."""
    told = json.loads(lca("lookup", "--json", "--docs", notes, "--page", "mori", "she").stdout)
    assert told["page"]["source"] == str(notes / "mori.txt")
    assert len(told["results"]) == 1
    assert told["results"][0].startswith("She lives in Nara.")


def test_places_are_counted(lca):
    """The places are numbered out of their number."""
    said = lca("lookup", "--page", "Hiroko", "hiroko")
    assert said.output.startswith("Hiroko\n1/3: ")
    assert "\n3/3: " in said.output


def test_no_such_page_offers_the_nearest(lca):
    """A page that does not exist is an error that names the nearest titles."""
    said = lca("lookup", "--page", "Hirko", "father")
    assert said.exit_code == 1
    assert said.output.startswith('Error: Could not find "Hirko".')
    assert "Hiroko." in said.output


def test_no_such_term_is_an_error(lca):
    """A term that the page does not hold is an error."""
    said = lca("lookup", "--page", "Hiroko", "zebra")
    assert said.exit_code == 1
    assert 'No results for "zebra"' in said.output


def test_a_page_must_be_named(lca):
    """Without a page there is nothing to look in."""
    said = lca("lookup", "father")
    assert said.exit_code == 2
    assert "--page" in said.output
