"""Asynchronous copies, the barriers that they complete on, and clusters: what PTX has from sm_90 on."""
