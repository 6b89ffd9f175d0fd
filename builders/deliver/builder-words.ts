/** Longest text of a builder that is passed on. */
const LONGEST_WORDS = 500;
/** Control characters and halves of characters: of them, NUL and the halves are no text to the database. */
const NO_TEXT = /[\p{Cc}\p{Cs}]/gu;

/** What a builder said, as it can be shown, logged and stored anywhere. */
export const builderWords = (text: string): string => text.slice(0, LONGEST_WORDS).replace(NO_TEXT, ' ');
