"""What a typed program can't do: mypy --strict must refuse each line that says so."""

import plackett

plackett.PDGD(features="many")  # wrong
plackett.PDGD(features=3, epsilon=0.1)  # wrong
plackett.simulate("synthetic", runs="ten")  # wrong
plackett.simulate("synthetic").ofline  # wrong
plackett.load(3)  # wrong
plackett.ndcg([0, 1], [1, 0], k="ten")  # wrong
plackett.ClickModel("perfect").click([0], [1], rng=7)  # wrong
plackett.sample_ranking([0.0], seed="one")  # wrong
plackett.compare("synthetic", labels=["ours"])  # wrong
plackett.compare("synthetic", sweep=["learning_rate"])  # wrong
plackett.load_results(3)  # wrong
plackett.Dataset.from_arrays(folds=3)  # wrong
