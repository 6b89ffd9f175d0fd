-- As before (0002), but glyphs that are blank count too, though Unicode calls them symbols: a braille cell and a notehead without
-- ink, hieroglyphic blanks. They are white space. Fillers and joiners of scripts that show nothing are removed.
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
              '\ufffe\uffff\U00013430-\U0001343f\U00016fe4\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff'
              '\U000f0000-\U0010ffff]',
            '', 'g'
          ),
          '[\u0009-\u000d\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000'
            '\U00013441\U00013442\U0001d159]+', ' ', 'g'
        ),
        '<>&"''`,;', '‹›＆”’‘‚；'
      ),
      '^[ =+@＝＋－＠-]+', ''
    ), 64)), '') END
$$;
