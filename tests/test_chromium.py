"""The browser of the tests is a real one."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser


@pytest.mark.slow
def test_browser_runs_the_scripts_of_a_page(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content("<p>before</p><script>document.querySelector('p').textContent = 'after'</script>")

    assert page.inner_text("p") == "after"
