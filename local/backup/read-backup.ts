import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ConfigError } from '../../config/config-error.ts';
import {
  type BackupHeader,
  COPY_ROWS,
  FIRST_LINE,
  headerSchema,
  LAST_STATEMENT,
  ROWS_END,
  STATEMENT_END,
} from './backup-format.ts';

export interface BackupPart {
  readonly statement: string;
  /** Of a COPY, in pieces of any length: to be read before the next part. */
  readonly rows: AsyncIterable<Buffer> | null;
}

export interface Backup {
  readonly header: BackupHeader;
  readonly parts: AsyncIterable<BackupPart>;
  /** Reads the rest. @throws ConfigError one line: the file is damaged, so that a part may have been anything */
  readonly assertWhole: () => Promise<void>;
}

/**
 * Reads a file that `npm run backup` made.
 *
 * @throws ConfigError one line that names the file: it cannot be read or is something else; `parts`, that it is cut off
 */
export async function readBackup(file: string): Promise<Backup> {
  const source = createGunzip();
  pipeline(createReadStream(file), source, () => undefined); // Who reads the source gets its errors.
  const text = new MarkedText(source[Symbol.asyncIterator](), file);
  if (!(await text.startsWith(`${FIRST_LINE}\n`))) throw new ConfigError(`${file} is not a backup of this service`);
  await text.line();
  const header = readHeader(await text.line());
  if (header === null) {
    await text.skip();
    throw new ConfigError(`${file} is not a backup of this service`);
  }
  return { header, parts: readParts(text), assertWhole: () => text.skip() };
}

function readHeader(line: string): BackupHeader | null {
  try {
    return headerSchema.parse(JSON.parse(line.replace('-- ', '')));
  } catch {
    return null;
  }
}

async function* readParts(text: MarkedText): AsyncGenerator<BackupPart> {
  for (let statement = ''; statement !== LAST_STATEMENT; ) {
    const lines: string[] = [];
    for (let line = await text.line(); line !== STATEMENT_END; line = await text.line()) {
      if (lines.length === 0 && COPY_ROWS.test(line)) yield { statement: line, rows: text.rows() };
      else lines.push(line);
    }
    statement = lines.join('\n');
    if (statement === LAST_STATEMENT) await text.hasMore(); // Where the file is damaged, that shows at its end.
    if (statement !== '') yield { statement, rows: null };
  }
}

/** Text that is read up to a mark, whatever pieces it comes in. */
class MarkedText {
  readonly #pieces: AsyncIterator<Buffer>;
  readonly #file: string;
  #rest = Buffer.alloc(0);
  /** Why the file could not be read to its end: it is thrown once, maybe to a reader of rows that has given up. */
  #failure: ConfigError | null = null;

  constructor(pieces: AsyncIterator<Buffer>, file: string) {
    this.#pieces = pieces;
    this.#file = file;
  }

  async hasMore(): Promise<boolean> {
    return this.#rest.length > 0 || (await this.#readOn());
  }

  /** Whether the text begins so, within its first piece. */
  async startsWith(text: string): Promise<boolean> {
    return (await this.hasMore()) && this.#rest.indexOf(text) === 0;
  }

  /** The next line, without its end. */
  async line(): Promise<string> {
    const pieces: Buffer[] = [];
    for await (const piece of this.#until('\n')) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  }

  /** Reads to the end, where a damaged file shows. */
  async skip(): Promise<void> {
    while (await this.#readOn()) this.#rest = Buffer.alloc(0);
    if (this.#failure) throw this.#failure;
  }

  /** The rows that follow, without the end of the last one. */
  async *rows(): AsyncGenerator<Buffer> {
    // Their end begins with that of a line, even where there is no row.
    this.#rest = Buffer.concat([Buffer.from('\n'), this.#rest]);
    let skipped = 1;
    for await (const piece of this.#until(`\n${ROWS_END}\n`)) {
      yield piece.subarray(skipped);
      skipped = 0;
    }
  }

  /** Pieces up to a mark, which is passed over. */
  async *#until(mark: string): AsyncGenerator<Buffer> {
    for (let at = -1; at < 0; ) {
      at = this.#rest.indexOf(mark);
      // The last bytes may be the beginning of the mark.
      const end = at < 0 ? Math.max(0, this.#rest.length - mark.length + 1) : at;
      if (end > 0) yield this.#rest.subarray(0, end);
      this.#rest = this.#rest.subarray(at < 0 ? end : end + mark.length);
      if (at < 0 && !(await this.#readOn())) throw new ConfigError(`${this.#file} ends too early`);
    }
  }

  async #readOn(): Promise<boolean> {
    const { done, value } = await this.#pieces.next().catch((cause: NodeJS.ErrnoException) => {
      const problem = cause.code?.startsWith('Z_') ? 'is not a whole backup' : 'cannot be read';
      this.#failure = new ConfigError(`${this.#file} ${problem} (${cause.code})`, { cause });
      throw this.#failure;
    });
    if (!done) this.#rest = Buffer.concat([this.#rest, value]);
    return !done;
  }
}
