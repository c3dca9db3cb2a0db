"""A made table of 240 people, whole and dealt to three parties."""

import numpy as np
import pandas as pd

rng, n = np.random.default_rng(7), 240
t = pd.DataFrame({"age": rng.integers(18, 80, n), "income": np.round(rng.lognormal(10, 0.5, n), 2)})
t["debt"] = np.round(t.income * rng.uniform(0, 1, n), -1)
t["city"] = rng.choice(["Bonn", "Hof", "Trier"], n, p=[0.5, 0.3, 0.2])
t["member"], t["children"] = rng.choice(["yes", "no"], n), rng.integers(0, 4, n)
score = (t.age - 45) / 20 + np.log(t.income) - 10 - t.debt / t.income + (t.city == "Bonn")
score = score + 0.7 * rng.normal(size=n)
t["loan"] = np.where(score > score.median(), "good", "bad")
t.insert(0, "id", range(n))
t.drop(columns="id").to_csv("people.csv", index=False)
t[["id", "age", "city", "children", "loan"]].to_csv("ours.csv", index=False)
t[["id", "income", "member"]].iloc[::-1].to_csv("bank.csv", index=False)
t[["id", "debt"]].iloc[5:].to_csv("shop.csv", index=False)
