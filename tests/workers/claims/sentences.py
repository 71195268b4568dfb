"""What the sentences of the demonstration come out as: found by hand, from the numbers beside them.

Each row has the beginning of a sentence, its verdict as posted, and that beyond noise. `None` is any that does not
deny the first: for those, the noise was not worked out by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

YES, NO, OPEN, ILL = "supported", "contradicted", "not_decidable", "ill_posed"
VERDICTS: Mapping[str, Sequence[tuple[str, str, str | None]]] = {
    "seed_0.txt": [
        ('"Type" (y-axis, categories 1-7)', YES, YES),
        # 99.3 96.7 98.3 92.7 87.7 83.0 82.0 86.3 86.0 83.7: four of five of the halves fall by more than ten.
        ("Type 1: Shows a general downward trend", YES, YES),
        # 298 of 300: exact limits 97.6 and 99.9.
        ("Type 1: … Accuracy starts very high (99.3%", YES, OPEN),
        # 83.7, and 83.45 is the last value that rounds to 83.4.
        ("Type 1: … declines to the low 80s", NO, OPEN),
        # 100 99.7 99.7 98.3 98.0 99.3 98.7 99.3 97.3 97.7 at 1 to 10.
        ("Type 2: Maintains exceptionally high accuracy (97.3% - 100.0%)", YES, OPEN),
        ("Type 2: … with minimal degradation", NO, OPEN),  # 2.7, and at most 2 is minimal
        ("Type 3: … after an initial drop", YES, YES),  # 1240.6 / 14 = 88.61 against 572.1 / 6 = 95.35
        ("Type 3: … Accuracy starts at 99.7%", YES, OPEN),
        ("Type 3: … dips into the mid-80s", YES, OPEN),  # 86.0
        ("Type 3: … stabilizes in the 86-90% range", NO, OPEN),  # 90.7 at 17 is above 90.5
        ("Type 4: Shows stable performance", NO, OPEN),  # 98.3 - 90.7 = 7.6
        # 98.3 98.3 91.0 91.7 92.0 91.0 92.0 92.3 92.7 92.7 90.7: seven of eleven round to 91 or 92, five are between.
        ("Type 4: … mostly in the 91-92% range", YES, OPEN),
        # 92.3 92.7 92.7 90.7 from 8 to 11: both 92.7 are above their neighbours, by at most 2. That 98.3 at 1 and 2 is
        # higher denies no peak there.
        ("Type 4: … with a slight peak at Lengths 9-10", YES, OPEN),
        ("Type 5: Starts at a lower accuracy (80.3%", YES, OPEN),
        ("Type 5: … shows a slight, inconsistent upward", YES, OPEN),  # 80.3 84.3 81.3 …: up, down, and 89.7 at last
        # Standard deviations: sqrt(10.58 / 18) = 0.767, and of Type 2 sqrt(7.92 / 9) = 0.938.
        ("Type 6: Demonstrates the most consistent", YES, OPEN),
        ("Type 6: Demonstrates the … highest", NO, OPEN),  # 1876.7 / 19 = 98.774 against 988.0 / 10 = 98.8 of Type 2
        ("Type 6: … accuracy almost exclusively between", YES, OPEN),
        ("Type 7: Shows a clear downward trend", YES, YES),
        ("Type 7: … Accuracy begins at 99.7%", YES, OPEN),
        ("Type 7: … steadily decreases", NO, OPEN),  # 98.0 at 3, 98.7 at 4
        ("Type 7: … with a slight recovery", NO, OPEN),  # 87.3 - 82.7 = 4.6, and at most 2 is slight
        # 97.3 of Type 6 and 84.0 of Type 5 or less: the word significant asks for noise.
        ("There is significant variability", YES, YES),
        ("Type 6 is the top performer", YES, OPEN),  # at 7, 8 and 9, which all have: 98.97 against 98.43
        ("Type 5 shows the lowest initial", YES, YES),  # 99.3 100 99.7 98.3 80.3 100 99.7, each of 300
        ("Types 1 and 7 show clear degradation", YES, YES),
        ("others are robust", YES, OPEN),  # 100 - 97.3 and 100 - 97.7
        ("Not all Types have data", YES, YES),
        ("Type 3 has the most complete data", YES, YES),
        ("Types 1, 2, 4, and 7 have data only", YES, YES),
        ("Type 5 only has data", YES, YES),
        # Above 98 inside: 2 + 7 + 1 + 15 + 4 of Types 1, 2, 3, 6 and 7; outside: the two of Type 4.
        ("The darkest blue cells (accuracy >98%) are concentrated", YES, OPEN),
        ("The darkest blue cells (accuracy >98%) … throughout", NO, OPEN),  # 98.0 and three times 97.7
        ("The model exhibits strong and robust", YES, OPEN),
        # Types 2, 6 and 7 hold, 1, 3 and 4 do not, 5 has no cell there: three or four of seven.
        ("It also performs very well on shorter", OPEN, OPEN),
        ("The model struggles with Type 5 tasks", OPEN, OPEN),  # there is no cell below 7
        ("Types 1 and 7, where accuracy drops by over 10", YES, OPEN),  # 83.7 - 99.3 = -15.6, 87.3 - 99.7 = -12.4
        ("the model's ability to generalize", YES, YES),
        ("Its performance is highly dependent", YES, YES),
        ("a potential limitation", ILL, ILL),
        ("performance will be most reliable for Type 6", YES, OPEN),  # the lowest: 97.7 against 97.3 of Type 2
        ("long sequences of Type 1 or 7", OPEN, OPEN),  # nothing of Type 1 above 9
    ],
    "seed_1.txt": [
        ("It lists seven discrete categories", YES, YES),
        ("The heatmap does not contain data", YES, YES),
        ("Type 1 … a clear and steady downward", YES, None),  # 77.3 69.7 67.0 54.7 46.3
        ("Type 2: … Accuracy is consistently very high", YES, None),  # 98.3 99.0 98.3 98.0 97.7
        ("Type 2: … with minimal variation", YES, None),  # 1.3
        ("Type 3: … Accuracy is relatively stable in the mid-80s", NO, None),  # 85.3 84.7 87.0
        ("Type 3: … drops notably at length 17", YES, None),  # 75.3 after 87.0
        ("Type 3: … a slight recovery at length 18", NO, None),  # 77.7 after 75.3 is 2.4
        ("Type 4: … Accuracy declines gradually", YES, None),  # 85.3 83.3 82.3 78.7
        ("Type 4: … a sharp drop of over 15", YES, None),  # 78.7 - 63.3 = 15.4
        ("Type 5: … Accuracy is stable", YES, None),  # 76.3 76.7
        ("Type 5: … a consistent downward trend", YES, None),  # 76.7 68.7 65.0 58.0
        ("Type 6: … Accuracy remains exceptionally high", YES, None),  # 99.0 96.7 98.3 97.0 96.3
        ("Type 6: … showing robustness", YES, None),  # 2.7
        ("Type 7 … Accuracy shows a strong downward", YES, YES),  # 90.7 86.3 74.3 68.0 66.0 of 300 each
        ("Type 7 … the most significant drop", YES, None),  # 12.0 after 4.4 and before 6.3
        ("High-Performance Types (2 and 6)", YES, None),
        ("Declining-Performance Types (1, 4, 5, 7)", YES, YES),  # by 31.0, 22.0, 18.3 and 24.7 points
        ("Type 3 is intermediate", YES, YES),  # 76.5 against 85.67: 4.1 standard errors
        ("Type 1: Drop begins at Length 8", NO, None),  # 77.3 at 5 and 69.7 at 6, which it never exceeds again
        ("Type 4: Sharp drop at Length 11", YES, None),
        ("Type 7: Sharp drop at Length 11", YES, None),
        ("Type 3: Drop at Length 17", YES, None),
        ("Different types are evaluated", YES, YES),
        ("The highest values (99.0%", YES, None),
        ("the lowest value (46.3%", YES, None),
        ("model performance is highly type-dependent", OPEN, OPEN),  # no length has all types
        ("often degrades with increased", YES, YES),
        ("Types 2 and 6 represent tasks", YES, None),
        ('a "breaking point"', ILL, ILL),
        ('"Type" corresponds', ILL, ILL),
        ("the Qwen-2.5 7B model can achieve", YES, None),
        ("its performance on others is significantly", YES, YES),
    ],
    "seed_2.txt": [
        ("four different models", ILL, ILL),
        ("Local Window Size, with values", YES, YES),
        ("R1-Llama | AIME24: … performance is relatively stable", YES, None),  # 1.0 3.3 4.0 1.4, and 5 is stable
        ("R1-Llama | AIME24: … a slight tendency", YES, None),  # 47.3 at 0.1, 43.3 at 0.5
        ("R1-Llama | AIME24: … The lowest value", YES, None),
        ("R1-Llama | AIME25: … Similar to AIME24", YES, None),  # 1.4 4.0 2.7 1.4
        ("R1-Llama | AIME25: … a slight dip", OPEN, OPEN),  # there are no numbers at 0.3 and 0.4
        ("R1-Llama | AIME25: … The lowest value", YES, None),
        ("R1-Llama | AMC23: … Performance is consistently high", YES, None),  # 84.0 and more
        ("R1-Llama | AMC23: … a slight increase", OPEN, OPEN),
        ("R1-Llama | AMC23: … The lowest value", NO, OPEN),  # the highest is 87.5
        ("R1-Llama | GPQA D: … Performance is generally good", YES, YES),  # 45.4 against 86.1
        ("R1-Llama | GPQA D: … a slight increase", OPEN, OPEN),
        ("R1-Llama | GPQA D: … The lowest value", YES, None),
        ("R1-Llama | AMC23 consistently outperforms", YES, YES),
        ("R1-Llama | AIME25 has the lowest overall", YES, YES),  # 27.01, and 45.43 is next
        # Of the means by benchmark and window, less an effect of each, 1.36 is left somewhere.
        ("The impact of Local Window Size", YES, None),
        ("The Ratio has a relatively small impact", YES, None),  # means of 0.1 and 0.5: 1.7 2.4 0.1 1.25 apart
        ("AMC23 is the most robust", YES, None),  # standard deviation 1.05, and 1.12 of GPQA D
        ("AIME25 is the least effective", YES, YES),
        ("the amount of data used", ILL, ILL),
        ("the underlying architectures", ILL, ILL),
    ],
    "seed_3.txt": [  # has no number at all
        ("GSM8K: Shows", OPEN, OPEN),
        ("GSM8K: … with the largest", OPEN, OPEN),
        ("Math 500: Displays", OPEN, OPEN),
        ("Math 500: … the largest", OPEN, OPEN),
        ("Minerva Math: Shows", OPEN, OPEN),
        ("Gaokao2023EN: Exhibits", OPEN, OPEN),
        ("Olympiad Bench: Shows", OPEN, OPEN),
        ("College Math: Displays", OPEN, OPEN),
        ("MMMLU STEM: Shows", OPEN, OPEN),
        ("Average: … The largest", OPEN, OPEN),
        ("The largest model consistently", OPEN, OPEN),
        ("There is a general trend", OPEN, OPEN),
        ("The accuracy of smaller models", OPEN, OPEN),
        ("This could be due to", ILL, ILL),
    ],
    "seed_4.txt": [  # 150 to 200 trials show no difference of a few points
        ("R1-Qwen | AIME'24 … No single monotonic", YES, OPEN),  # 42.7 40.0 42.7 46.0 48.7 at window 500
        ("R1-Qwen | AIME'24 … The highest value (52.0)", YES, OPEN),
        ("R1-Qwen | AIME'24 … Performance at Window=500", YES, OPEN),
        ("R1-Qwen | AIME'24 … Performance at Window=3000", YES, OPEN),  # 47.3 - 42.7 = 4.6, and 5 is stable
        ("R1-Qwen | AIME'25 … the peak (36.7)", YES, OPEN),
        # 30.7 at (2000, 0.2), 31.3 at (500, 0.1) and (500, 0.3), 32.0 at (1000, 0.1) and (1000, 0.5): two of five.
        ("R1-Qwen | AIME'25 … The lowest values are clustered", NO, OPEN),
        ("R1-Qwen | AMC23 … Performance is uniformly high", YES, OPEN),
        ("R1-Qwen | AMC23 … The highest values (88.5)", YES, OPEN),
        ("R1-Qwen | AMC23 … There is no strong", YES, OPEN),
        ("R1-Qwen | GPQA_D … The global peak (49.7)", YES, OPEN),
        ("R1-Qwen | GPQA_D … The series for Window=3000", YES, OPEN),  # 47.1 46.7 47.6 49.1 48.3
        ("R1-Qwen | GPQA_D … The series for Window=500", YES, OPEN),  # 45.7 47.6 47.2 47.5 46.1
        ("In three of the four benchmarks", YES, OPEN),  # AMC23 has 88.5 at three windows
        ("The optimal Ratio varies", YES, OPEN),
        ("AMC23 yields the highest scores (85-88)", YES, OPEN),  # 88.5 rounds to 88 or to 89
        ("AIME'25 yields the lowest scores (31-37)", YES, OPEN),  # 30.7 to 36.7
        ("Performance is sensitive to both", YES, OPEN),
        ("not in a uniform way across tasks", YES, OPEN),  # by benchmark and ratio 0.63 is left
        ("The relationship is non-linear", YES, OPEN),
        ("specific combinations (like 2000/0.4)", YES, OPEN),
        ("the numerical scales are vastly different", YES, YES),  # 87.175 / 34.065 = 2.56, and 2 is vast
        ("is not governed by simple", YES, OPEN),  # of 36 series one rises without a step back
        # Sums over the benchmarks: 225.4 at (2000, 0.4), and 218.6 at (500, 0.5) is the best of other windows.
        ("there exists a sweet spot", YES, OPEN),
        ("The stark difference in score ranges", YES, OPEN),  # 87.175 and 34.065
        ("indicates solid foundational", ILL, ILL),
        ("the lower scores on AIME", YES, YES),  # 34.07 against 45.03
        ("starting with a window size of 2000", YES, OPEN),
        ("The lack of a universal trend", YES, OPEN),
    ],
}
