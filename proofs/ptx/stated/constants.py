"""Constant expressions that ptxas of CUDA 13.0 takes, and refuses: measured (values: ``values.tsv``)."""

from __future__ import annotations

TAKEN = """
(1)
16+16
-(-1)
- -1
1?2:3
WARP_SZ*2
7 % 3
(.s64)3
( .u64 )-1>5
1.0<2.0
!0
1&&0||1
((((1))))
+1
18446744073709551615
""".strip().splitlines()
"""What ptxas takes for an element of C of integers."""

REFUSED = """
7%3
5/0
5%0
1.0+2
1<2?3.0:4.0
1 2
1+
*2
(1
1)
1?2
1:2
!1.5
~1.5
b32_0+1
(b32_0)
0f00000000+0f00000000
1.0/0.0
-0f3F800000
(0d3FF0000000000000)+1
1.0<<2
1.0%2.0
1?2:3.0
1?2.0:3
0?2.0:3
1.0?2:3
99999999999999999999
08
0b2
0f3F80000
0d3FF
.5
1.5U
7u
7UU
""".strip().splitlines()
"""What it does not."""
