const MAX_LENGTH = 500;
/** Control characters and unpaired surrogates. The database does not take NUL and surrogates as text. */
const NO_TEXT = /[\p{Cc}\p{Cs}]/gu;

/** Makes a builder's text safe to show, log and store anywhere. */
export const sanitizeBuilderText = (text: string): string => text.slice(0, MAX_LENGTH).replace(NO_TEXT, ' ');
