-- Requested pools are read by the API alone; how capture reads pools is in its metrics.
DROP TABLE operator.wanted_pool;
DROP TABLE operator.read_attention;
