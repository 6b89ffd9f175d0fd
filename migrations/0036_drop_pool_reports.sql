-- How curves became known is counted, not listed; bins by events are compared with totals by a query (docs/sql.md).
DROP VIEW read_model.curve_rank, read_model.bin_comparison;
DROP TABLE operator.curve_rank, operator.bin_comparison;
