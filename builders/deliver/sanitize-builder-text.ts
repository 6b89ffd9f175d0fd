const MAX_LENGTH = 500;
/** Control characters and halves of characters: of them, NUL and the halves are no text to the database. */
const NO_TEXT = /[\p{Cc}\p{Cs}]/gu;

/** A text of a builder, as it can be shown, logged and stored anywhere. */
export const sanitizeBuilderText = (text: string): string => text.slice(0, MAX_LENGTH).replace(NO_TEXT, ' ');
