/** Spaces and signs that only group digits, wherever they are written. */
const GROUPS_ALONE = /[\s_'’٬]/g;

/** How a locale writes numbers. */
function styleOf(locale: string | undefined) {
  const format = new Intl.NumberFormat(locale);
  const parts = format.formatToParts(-1_234_567.5);
  const partOf = (type: Intl.NumberFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? ',';
  const zero = format.format(0).codePointAt(0) ?? 0;
  return { decimal: partOf('decimal'), group: partOf('group'), zero };
}

/**
 * Reads a decimal as the reader's locale writes it, with or without groups. A point or comma that groups digits in this
 * locale and is a decimal mark in others, such as in `1,500`, is refused when nothing else in the text decides.
 *
 * @param text what a person typed
 * @param locale default: the reader's
 * @returns digits with a point, as the API takes them; null when it is ambiguous or no number
 */
export function readDecimal(text: string, locale?: string): string | null {
  const { decimal, group, zero } = styleOf(locale);
  const digits = [...text.trim()].map((sign) => {
    const digit = (sign.codePointAt(0) ?? 0) - zero;
    return digit >= 0 && digit <= 9 ? String(digit) : sign;
  });
  const plain = digits.join('').replaceAll(GROUPS_ALONE, '');
  const marks = [decimal, '.', ','].filter((mark) => mark !== group);
  const at = [...plain].findIndex((sign) => marks.includes(sign));
  const [whole, fraction] = at < 0 ? [plain, ''] : [plain.slice(0, at), plain.slice(at + 1)];
  const groups = whole.split(group);
  if (!/^\d+$/.test(groups.join('') + fraction)) return null;
  const value = BigInt(groups.join(''));
  const isInDoubt = groups.length === 2 && at < 0;
  if (groups.length > 1 && (isInDoubt || grouped(value, locale) !== whole)) return null;
  return `${value}${fraction && `.${fraction}`}`;
}

const grouped = (value: bigint, locale: string | undefined): string =>
  new Intl.NumberFormat(locale, { useGrouping: 'always', numberingSystem: 'latn' }).format(value);

/** Writes a decimal with the mark of the reader's locale, for a field to edit. @param plain digits with a point */
export const decimalText = (plain: string, locale?: string): string => plain.replace('.', styleOf(locale).decimal);
