"""From data to a learned ranker: PDGD learns from a simulated user's clicks."""

import plackett

data = plackett.load("synthetic")  # or a folder of LETOR files
result = plackett.simulate(data, "pdgd", click_model="navigational", runs=5, progress=True)
result.ranker.save("first_ranker.plk")
print(f"NDCG@10 {result.curve.offline_mean[0]:.3f} at the start, {result.offline.mean:.3f} after "
      f"{result.impressions} impressions; the ranker is in first_ranker.plk")
