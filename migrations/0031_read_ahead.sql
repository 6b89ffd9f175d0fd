-- Pools that the API reads ahead are a class of their own: requested ones are `pools`, those that were not read `waiting`.
ALTER TABLE operator.read_attention
  DROP CONSTRAINT read_attention_class_check,
  ADD CONSTRAINT read_attention_class_check CHECK (class IN ('worth', 'wanted', 'others', 'ahead'));
