-- Rule 4 of 0016 knows the full-width forms too: spreadsheets take ＝ ＋ － ＠ at the beginning of a cell for a formula as well.
SET LOCAL check_function_bodies = off;

CREATE OR REPLACE FUNCTION read_model.shown_text(raw text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN raw ~ '^[A-Za-z0-9][A-Za-z0-9._$]{0,63}$' THEN raw ELSE nullif(rtrim(left(
    regexp_replace(
      translate(
        regexp_replace(
          regexp_replace(
            raw,
            '[\u0001-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f'
              '\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb'
              '\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff]',
            '', 'g'
          ),
          '[\u0009-\u000d\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+', ' ', 'g'
        ),
        '<>&"''`,;', '‹›＆”’‘‚；'
      ),
      '^[ =+@＝＋－＠-]+', ''
    ), 64)), '') END
$$;
