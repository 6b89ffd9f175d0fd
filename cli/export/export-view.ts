import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type pg from 'pg';
import { readIndexedBlocks } from '../../db/indexed-blocks.ts';
import { loadStatement } from '../../db/load-statement.ts';
import { inTransaction, type Queryable } from '../../db/transaction.ts';
import { makeFolder } from '../../runtime/make-folder.ts';
import { formatDay } from '../arguments.ts';
import { type Column, readColumns } from './columns.ts';
import { CLOSE_ROWS, FETCH_ROWS, OF_INDEX, openRows, ROWS_PER_FETCH, type View } from './rows-sql.ts';
import { createTableFile, type Format, type Row, type TableFile } from './table-file.ts';

export interface ExportRequest {
  readonly view: View;
  /** First day, Unix seconds. */
  readonly from: number;
  /** The day after the last one. */
  readonly to: number;
  readonly format: Format;
  readonly out: string;
  /** Whether existing files are written again. */
  readonly force?: boolean | undefined;
}

export interface ExportProgress {
  readonly doneDays: number;
  readonly totalDays: number;
  /** The file that was completed; null when no file was written. */
  readonly file: string | null;
  readonly rows: number;
}

export interface ExportResult {
  readonly files: number;
  readonly rows: number;
  /** Files that existed before and were kept. */
  readonly kept: number;
  /** Days that may still change, summed over chains. A later export writes them. */
  readonly notFinal: number;
}

const DAY = 86_400;
/** Days per statement. Some views sum all events of a pool in each statement; fewer statements do that less often. */
const DAYS_PER_STATEMENT = 31;
const finalTimes = loadStatement<{ readonly untilTs: number }>('./final-until.sql', import.meta.url);

/**
 * Writes a file per chain and day of a view: `OUT/VIEW/CHAIN/DAY.FORMAT`. A day without rows has no file. After a kill,
 * the same call continues with the days that have no file. With `force`, the file of a day that has no rows any more is
 * removed, but only of views of the index alone.
 *
 * @throws an error of Postgres or of the file system; complete files stay
 */
export async function exportView(
  database: pg.Pool,
  request: ExportRequest,
  report: (progress: ExportProgress) => void,
): Promise<ExportResult> {
  const columns = await readColumns(database, request.view);
  const chainIds = [...(await readIndexedBlocks(database)).keys()].sort((a, b) => a - b);
  const totalDays = (chainIds.length * (request.to - request.from)) / DAY;
  const total = { files: 0, rows: 0, kept: 0, notFinal: 0 };
  let doneDays = 0;
  const count: Count = (days, file = null, rows = 0) => {
    doneDays += days;
    total.files += file === null ? 0 : 1;
    total.rows += rows;
    report({ doneDays, totalDays, file, rows });
  };
  for (const chainId of chainIds) {
    await makeFolder(resolve(folderOf(request, chainId)));
    const runs = daysToWrite(request, chainId);
    const dayCount = runs.reduce((days, { from, to }) => days + (to - from) / DAY, 0);
    const kept = (request.to - request.from) / DAY - dayCount;
    total.kept += kept;
    count(kept);
    for (const { from, to } of runs) {
      const end = await inTransaction(database, 'REPEATABLE READ', async (client) => {
        const finalTo = Math.max(Math.min(to, await finalUntil(client, request.view, chainId)), from);
        await writeDays(client, { ...request, columns, chainId, from, to: finalTo }, count);
        return finalTo;
      });
      total.notFinal += (to - end) / DAY;
      count((to - end) / DAY);
    }
  }
  return total;
}

const folderOf = ({ out, view }: ExportRequest, chainId: number): string => join(out, view, String(chainId));
const pathOf = (request: ExportRequest, chainId: number, dayTs: number): string =>
  join(folderOf(request, chainId), `${formatDay(dayTs)}.${request.format}`);

interface Days {
  readonly from: number;
  readonly to: number;
}

/** Runs of consecutive days to write: days without a file, or all days with `force`. */
function daysToWrite(request: ExportRequest, chainId: number): Days[] {
  const runs: Days[] = [];
  for (let from = request.from; from < request.to; from += DAY) {
    if (!request.force && existsSync(pathOf(request, chainId, from))) continue;
    const last = runs.at(-1);
    const continues = last !== undefined && last.to === from && from - last.from < DAYS_PER_STATEMENT * DAY;
    if (continues) runs[runs.length - 1] = { from: last.from, to: from + DAY };
    else runs.push({ from, to: from + DAY });
  }
  return runs;
}

/** Time until which all days of a view are final, Unix seconds: the start of the first day that may still change. */
async function finalUntil(client: Queryable, view: View, chainId: number): Promise<number> {
  const [row] = await finalTimes(client, [chainId, view]);
  return Math.floor((row?.untilTs ?? 0) / DAY) * DAY;
}

type Count = (days: number, file?: string | null, rows?: number) => void;

interface DaysRequest extends ExportRequest {
  readonly columns: readonly Column[];
  readonly chainId: number;
}

/** Streams the rows of some days into files, one day after the other. */
async function writeDays(client: Queryable, request: DaysRequest, count: Count): Promise<void> {
  const { columns, from, to } = request;
  if (from >= to) return;
  await client.query(openRows(request));
  const { write, close } = dayFiles(request, count);
  for (;;) {
    const { rows } = await client.query<unknown[]>({ text: FETCH_ROWS, rowMode: 'array' });
    // The day of a row is in the last column.
    for (const [dayTs, ofDay] of Map.groupBy(rows, (row) => Number(row[columns.length]))) write(dayTs, ofDay);
    if (rows.length < ROWS_PER_FETCH) break;
  }
  close();
  await client.query(CLOSE_ROWS);
}

/** Writes one file per day, in order. The file of a day is complete when the next day begins. */
function dayFiles(request: DaysRequest, count: Count) {
  let open: { readonly dayTs: number; readonly file: TableFile; rows: number } | null = null;
  let nextDay = request.from;
  const finish = (untilTs: number) => {
    open?.file.finish();
    if (request.force && OF_INDEX.has(request.view)) {
      for (let dayTs = nextDay; dayTs < untilTs; dayTs += DAY)
        if (dayTs !== open?.dayTs) rmSync(pathOf(request, request.chainId, dayTs), { force: true });
    }
    count((untilTs - nextDay) / DAY, open && pathOf(request, request.chainId, open.dayTs), open?.rows);
    nextDay = untilTs;
  };
  return {
    write(dayTs: number, rows: readonly Row[]) {
      if (open?.dayTs !== dayTs) {
        if (open !== null) finish(open.dayTs + DAY);
        const file = createTableFile(pathOf(request, request.chainId, dayTs), request.format, request.columns);
        open = { dayTs, file, rows: 0 };
      }
      open.file.write(rows);
      open.rows += rows.length;
    },
    close: () => finish(request.to),
  };
}
