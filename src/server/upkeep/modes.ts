/** A server for one machine and a server for a team: everything in which they differ when they start. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { localSite, type Site, teamSite } from '../http/site.ts';
import type { Start } from './data-folder.ts';
import { ensureFirstAdmin, ensureLocalPerson, type FirstPerson } from './first-person.ts';
import { replacePrivate } from './private-files.ts';

export interface TeamOptions {
  /** `https://host[:port]`. */
  publicUrl: string;
  /** Handle of the first admin, for the first start. */
  adminHandle: string;
  /** What the limits on signed-in work are multiplied with; 0 turns them off. */
  rateFactor?: number | undefined;
  /** The proxy in front of it tells by the PROXY protocol whom a connection comes from. */
  proxyProtocol?: boolean | undefined;
}

interface Mode {
  site: Site;
  /** What the limits on signed-in work are multiplied with; on one's own machine there are none. */
  rateFactor: number;
  proxyProtocol: boolean;
  /** Makes sure that somebody owns the server. */
  firstPerson(start: Start): Promise<FirstPerson>;
  /** Tells, and notes in the data folder, that the server listens. */
  listening(dataDir: string, person: FirstPerson, log: Logger): void;
}

/** Where clients look for the local server when nothing else is recorded. */
const LOCAL_PORT = 7400;
const RATE_FACTOR = 10;

/** @param team null: for this machine only. @param port the bound port, once there is one. */
export const modeOf = (team: TeamOptions | undefined, port: () => number): Mode =>
  team === undefined ? localMode(port) : teamMode(team);

const localMode = (port: () => number): Mode => ({
  site: localSite(port),
  rateFactor: 0,
  proxyProtocol: false,
  firstPerson: ensureLocalPerson,
  listening(dataDir) {
    // Clients of this machine look at 7400 unless this file names another port.
    const file = join(dataDir, 'server.addr');
    if (port() === LOCAL_PORT) rmSync(file, { force: true });
    else replacePrivate(file, `127.0.0.1:${port()}\n`);
  },
});

const teamMode = ({ publicUrl, adminHandle, rateFactor, proxyProtocol }: TeamOptions): Mode => ({
  site: teamSite(publicUrl),
  rateFactor: rateFactor ?? RATE_FACTOR,
  proxyProtocol: proxyProtocol ?? false,
  firstPerson: (start) => ensureFirstAdmin(start, adminHandle),
  listening(_dataDir, { handle, fresh, keyFile }, log) {
    if (keyFile === null) return;
    const where = { handle, key_file: keyFile };
    if (fresh) log.info(where, 'first admin created');
    else log.warn(where, "the first admin's key is still here: take it to its person and remove the file");
  },
});
