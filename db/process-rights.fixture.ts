/**
 * What each role may do with each table and view, in the letters of Postgres: a INSERT, r SELECT, w UPDATE, d DELETE,
 * D TRUNCATE, x REFERENCES, t TRIGGER, m MAINTAIN. A star stands for every table and view of the schema.
 */
const RIGHTS = `
                                 ptd_indexer ptd_capture ptd_api ptd_builders ptd_operator analyst
  operator.api_key                    -           -         -         -           arw         -
  operator.curator                    -           r         -         -           arwd        -
  operator.delisted_pool              -           r         r         -           arwd        -
  operator.found_contract             ard         r         r         -           r           -
  operator.layout_calibration         -           arw       r         -           arw         -
  operator.pamm_submission            -           rw        -         arwd        -           -
  operator.pamm_answer                -           -         -         arwd        -           -
  operator.price_health               -           arwd      r         -           r           -
  operator.pool_storage               -           arwd      -         -           -           -
  operator.fiat_price                 -           arwd      -         -           -           -
  operator.pool_classification        -           arwd      r         -           -           -
  operator.listing_window             -           arwd      r         -           r           -
  operator.listing_source             -           arwd      -         -           -           -
  operator.listing_price              -           arwd      r         -           -           -
  operator.listed_pool                -           arwd      r         -           -           -
  operator.pool_listing               -           arwd      r         -           r           -
  operator.pool_trend                 -           arwd      r         -           -           -
  operator.pool_persistence           -           arwd      r         -           -           -
  operator.index_audit                r           arwd      r         -           -           -
  operator.backfill                   arwd        -         -         -           -           -
  operator.first_sync                 arwd        -         r         -           -           -
  operator.log_fault                  arwd        -         r         -           -           -
  operator.migration                  -           -         -         -           -           -
  read_model.token                    r           r         r         -           r           r
  read_model.pool                     r           r         r         -           r           r
  read_model.pool_state               r           r         r         -           r           r
  read_model.pool_bin                 r           r         r         -           r           r
  read_model.pool_extension           r           r         r         -           r           r
  read_model.stop_loss                r           r         r         -           r           r
  read_model.price_velocity           r           r         r         -           r           r
  read_model.allowlist                r           r         r         -           r           r
  read_model.price_provider           r           r         r         -           r           r
  read_model.swap                     r           r         r         -           r           r
  read_model.bin_swap                 r           r         r         -           r           r
  read_model.liquidity_change         r           r         r         -           r           r
  read_model.fee_collection           r           r         r         -           r           r
  read_model.pool_activity            r           r         r         -           r           r
  read_model.indexed_block            r           r         r         -           r           r
  read_model.pool_listing             -           -         -         -           -           r
  read_model.price_health             -           -         -         -           -           r
  read_model.fiat_price               -           -         -         -           -           r
  read_model.curator                  -           -         -         -           -           r
  read_model.delisted_pool            -           -         -         -           -           r
  read_model.pamm_submission          -           -         -         -           -           r
  read_model.pamm_answer              -           -         -         -           -           r
  read_model.pool_balance             -           -         -         -           -           r
  read_model.pool_storage             -           -         -         -           -           r
  read_model.layout_calibration       -           -         -         -           -           r
  history.trade_mark                  arwd        arwd      r         -           -           r
  history.trade_bar                   arwd        arwd      r         -           -           r
  history.fill                        -           arwd      r         -           -           r
  history.quote_minute                -           ar        r         -           -           r
  history.quote_hour                  -           ar        r         -           -           r
  history.executability_hour          -           arw       r         -           -           r
  history.persistence_minute          -           ar        r         -           -           r
  history.persistence_day             -           arw       r         -           -           r
  history.fiat_price_minute           r           ar        r         -           -           r
  history.fiat_price_hour             r           ar        r         -           -           r
  read_model.trade_candle             -           -         r         -           -           r
  read_model.quote_sample             -           -         r         -           -           r
  read_model.pool_day                 -           -         r         -           -           r
  read_model.fill_quality             -           -         r         -           -           r
  read_model.quote_persistence        -           -         r         -           -           r
  read_model.fiat_price_history       -           -         r         -           -           r
  read_model.dex_trades               -           -         -         -           -           r
  read_model.pool_yields              -           -         -         -           -           r
  live.*                              arwdDxtm    r         r         -           r           r
  ponder_sync.*                       arwdDxtm    r         -         -           -           -
  onchain_test.*                      arwdDxtm    r         -         -           -           -
  onchain_next.*                      arwdDxtm    r         -         -           -           -`;

const [roles = [], ...lines] = RIGHTS.trim()
  .split('\n')
  .map((line) => line.trim().split(/ +/));

/** The roles that have or lack rights. */
export const ROLES = roles;
/** Rights of these roles, in their order, by table, view or `schema.*`. */
export const RIGHTS_OF = new Map(lines.map(([name = '', ...rights]) => [name, rights]));

/**
 * Functions that Postgres marks volatile, by what keeps a role that may execute them from changing anything but its own
 * session. What is not listed is revoked, or a function of ours.
 */
export const HARMLESS: readonly RegExp[] = [
  // Reads of the clock, of chance and of identifiers; the seed is the session's.
  /^(clock_timestamp|timeofday|random|random_normal|setseed|gen_random_uuid|uuidv[47]|array_(sample|shuffle))$/,
  // Settings of the session, within what its role may set: SET does the same.
  /^set_config$/,
  // Waits in its own session.
  /^pg_sleep(_for|_until)?$/,
  // NOTIFY is a command that no right governs. Nothing is stored, and who listens reads the database after it.
  /^pg_notify$/,
  // Runs a query with the caller's rights.
  /^((query|cursor)_to_xml(_and_xmlschema|schema)?|ts_stat|ts_rewrite)$/,
  // Reads of statistics and of the state of the server;
  // `clear` and `flush` concern those that the session itself collects.
  /^pg_stat_get_\w+$/,
  /^pg_(stat_clear_snapshot|stat_force_next_flush)$/,
  /^pg_(lock_status|blocking_pids|safe_snapshot_blocking_pids|isolation_test_session_is_blocked|prepared_xact)$/,
  /^pg_(control_\w+|jit_available|get_loaded_modules|get_wait_events|notification_queue_usage|get_multixact_members)$/,
  /^pg_(is_in_recovery|is_wal_replay_paused|get_wal_\w+|(current|last)_wal_\w+|last_xact_replay_timestamp)$/,
  /^pg_(available_wal_summaries|wal_summary_contents|last_committed_xact|xact_\w+)$|^(txid_status|current_query)$/,
  // Reads of the catalog.
  /^pg_((database|tablespace|table|indexes|relation|total_relation)_size|partition_(ancestors|tree))$/,
  /^pg_(database_)?collation_actual_version$|^(amvalidate|currtid2|plpgsql_validator)$/,
  // Needs rights on the sequence: see the test of sequences.
  /^(nextval|setval|currval|lastval|pg_sequence_last_value|pg_get_sequence_data)$/,
  // Only of the owner of the index or of the table, or with MAINTAIN.
  /^(brin_(de)?summarize_\w+|gin_clean_pending_list|pg_(clear|restore)_(attribute|relation)_stats)$/,
  // Only with the REPLICATION attribute.
  /^pg_((create|copy)_(logical|physical)_replication_slot|drop_replication_slot|replication_slot_advance)$/,
  /^pg_(logical_slot_(get|peek)_(binary_)?changes|sync_replication_slots)$/,
  // Only of a superuser.
  /^pg_(import_system_collations|nextoid|stop_making_pinned_objects)$/,
  // Only in a server that pg_upgrade started, or in the script of an extension.
  /^binary_upgrade_\w+$|^pg_extension_config_dump$/,
];

/**
 * What else each may execute: of Postgres, what was revoked from all and is needed; of ours,
 * what has a right of its own.
 */
export const GRANTED = {
  ptd_indexer: [
    'pg_catalog.pg_advisory_lock_shared(integer,integer)',
    'pg_catalog.pg_advisory_unlock_shared(integer,integer)',
    // Kysely's, as Ponder migrates its cached logs.
    'pg_catalog.pg_advisory_xact_lock(bigint)',
    'pg_catalog.pg_try_advisory_lock(integer,integer)',
    'pg_catalog.pg_try_advisory_xact_lock(integer,integer)',
  ],
  ptd_capture: ['history.keep_partitions(text,bigint,bigint)', 'pg_catalog.pg_advisory_xact_lock(bigint)'],
  ptd_api: ['operator.find_key(bytea)', 'operator.holder_of_key(bytea)', 'operator.keys_in_use(text[])'],
  ptd_builders: [],
  ptd_operator: [],
  analyst: [],
};
