"""Measurements. Ratios of figures from one run say something; figures of two machines do not."""
