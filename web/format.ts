const usd = { style: 'currency', currency: 'USD' } as const;
const short = new Intl.NumberFormat(undefined, { ...usd, notation: 'compact', maximumFractionDigits: 2 });
const full = new Intl.NumberFormat(undefined, { ...usd, minimumFractionDigits: 2, maximumFractionDigits: 6 });
const price = new Intl.NumberFormat(undefined, { minimumSignificantDigits: 6, maximumSignificantDigits: 6 });
const exactPrice = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 15 });
const tokens = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 7 });
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumSignificantDigits: 4 });
const integer = new Intl.NumberFormat();
const oneDecimal = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(undefined, {
  style: 'percent',
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});
const clock = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** Stands for what is not known. */
export const NOTHING = '–';

const orNothing =
  <T>(show: (value: T) => string) =>
  (value: T | null | undefined): string =>
    value === null || value === undefined ? NOTHING : show(value);

export const usdShort = orNothing((value: number) => short.format(value));
export const usdFull = orNothing((value: number) => full.format(value));
export const priceText = orNothing((value: number) => price.format(value));
export const priceExact = orNothing((value: number) => exactPrice.format(value));
export const tokenAmount = orNothing((value: number | string) => tokens.format(Number(value)));
export const compactAmount = orNothing((value: number) => compact.format(value));
export const count = orNothing((value: number | bigint) => integer.format(value));
export const bps = orNothing((value: number) => `${oneDecimal.format(value)} bps`);
/** @param value basis points */
export const percentOfBps = orNothing((value: number | bigint) => percent.format(Number(value) / 10_000));
/** @param value parts of `one` */
export const share = (value: number | bigint, one: number): string => percent.format(Number(value) / one);
/** @param value millionths */
export const changeText = (value: number): string => `${value > 0 ? '+' : ''}${share(value, 1e6)}`;
/** @param value Unix seconds */
export const moment = orNothing((value: number) => clock.format(value * 1000));

/** @param secs seconds */
export function age(secs: number): string {
  const whole = Math.max(0, Math.floor(secs));
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min`;
  if (whole < 172_800) return `${Math.floor(whole / 3_600)} h`;
  return `${Math.floor(whole / 86_400)} d`;
}

export const shortHex = (hex: string): string => `${hex.slice(0, 6)}…${hex.slice(-4)}`;
