"""For authors of skills: checks, predictions, evals, formats, archives, conformance."""
