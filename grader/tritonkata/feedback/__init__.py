"""From a report to words: in a terminal, as Markdown and as JUnit XML."""
