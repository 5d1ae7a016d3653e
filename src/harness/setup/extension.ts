/** The extension of omp: our file that runs inside the program and holds the connection to the daemon. */

/**
 * @param launcher the script that runs this program. @param version of this program, which the daemon is told.
 * @param claims whether its session is told who else is on the files it changes
 */
export function extensionText(launcher: string, version: string, claims = false): string {
  return source
    .replace('"%LAUNCHER%"', () => JSON.stringify(launcher))
    .replace('"%VERSION%"', () => JSON.stringify(version))
    .replace('"%CLAIMS%"', () => String(claims));
}

const source = String.raw`// Written by service init; replaced by it, removed by service uninstall. Delivers board messages into omp sessions.
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, lstatSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";

const launcher = "%LAUNCHER%";
const version = "%VERSION%";
// Whether the session is told who else is on the files it changes.
const claims = "%CLAIMS%";

const state = dirname(dirname(launcher));
const own = join(state, "daemon.sock");
const path =
  Buffer.byteLength(own) <= 100
    ? own
    : join("/tmp", "service-" + process.getuid(), createHash("sha256").update(state).digest("hex").slice(0, 16) + ".sock");

/** Whether socket and folder are this user's alone: another user may have made those in /tmp. */
function isOurs() {
  try {
    const [folder, socket] = [dirname(path), path].map((each) => lstatSync(each));
    return (
      [folder, socket].every(({ uid }) => uid === process.getuid()) &&
      folder.isDirectory() &&
      (folder.mode & 0o077) === 0 &&
      socket.isSocket() &&
      (socket.mode & 0o777) === 0o600
    );
  } catch {
    return false;
  }
}

/** One connection: frames as lines. */
function open(first, onFrame, onClose) {
  if (!isOurs()) {
    setImmediate(onClose);
    return { send: async () => {}, end: () => {} };
  }
  const socket = connect(path);
  let rest = "";
  socket.setEncoding("utf8");
  socket.on("connect", () => socket.write(JSON.stringify({ v: 1, ...first }) + "\n"));
  socket.on("data", (piece) => {
    rest += piece;
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      try {
        onFrame(JSON.parse(line));
      } catch {}
    }
  });
  socket.on("error", () => {});
  socket.on("close", onClose);
  return { send: (frame) => new Promise((sent) => socket.write(JSON.stringify({ v: 1, ...frame }) + "\n", sent)), end: () => socket.destroy() };
}

/** A question that is answered once; null when nobody answers in time. What it carries is taken by use, and then received. */
function ask(frame, use) {
  return new Promise((resolve) => {
    let carried = null;
    const timer = setTimeout(() => done(carried), 3000);
    const done = (value) => {
      clearTimeout(timer);
      resolve(value);
      connection.end();
    };
    const connection = open(
      frame,
      (answer) => {
        if (answer.event === "ok") return done(carried);
        carried = use ? use(answer) : answer;
        if (answer.handoff_id && carried) connection.send({ op: "received", handoff_id: answer.handoff_id });
        else done(carried);
      },
      () => done(carried),
    );
  });
}

/** The files that a tool call changes. */
function filesOf({ toolName, input }) {
  if (!["edit", "write", "apply_patch"].includes(toolName) || !input) return [];
  const text = typeof input.input === "string" ? input.input : "";
  const patched = [...text.matchAll(/^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm)].map((found) => found[1].trim());
  return [input.path, input.file_path, ...patched].filter((file) => typeof file === "string" && file !== "" && file.length <= 4096);
}

/** Whether one of its words is our program, as in the mark of hooks. */
const runsService = (command) =>
  command.split(/[\s;&|()<>\x60"'$={}\\]+/).some((word) => /^(.*\/)?(board-)?service(@.*)?$/.test(word));

const textOf = (carry) => [carry.nudge, carry.bundle, carry.notice].filter(Boolean).join("\n");

// When the daemon was started from here: five times in ten minutes at most, so that a broken one does not keep the machine busy.
let starts = [];

// Subagents run in the same process, each with an instance of this of its own: the first session here is the person's.
const main = { by: null, env: {} };

/** A subagent's session is kept in the folder of the session that started it. */
function insideAnother(manager) {
  const file = manager.getSessionFile && manager.getSessionFile();
  return Boolean(file) && existsSync(dirname(file) + ".jsonl");
}

export default function service(pi) {
  const me = {};
  let session = null;
  let boot = null;
  let connection = null;
  let running = false;
  let starting = false;
  let subagent = null;
  let called = {};
  const added = new Set();
  let edited = [];
  const foreign = ["CODEX_THREAD_ID", "CODEX_SESSION_ID"].filter((name) => process.env[name]);

  const header = () => ({ harness: "omp", session, boot, cwd: process.cwd() });
  const message = (text, options) =>
    pi.sendMessage({ customType: "service", content: text, display: true }, options);
  const startDaemon = () => {
    starts = starts.filter((at) => performance.now() - at < 600000);
    if (starts.length >= 5 || process.env.SERVICE_NO_AUTOSTART === "1") return;
    starts.push(performance.now());
    spawn(launcher, ["daemon", "start", "--quiet"], { stdio: "ignore", detached: true }).on("error", () => {}).unref();
  };

  /** Holds a connection for the session that is open now, and makes it anew until it is let go. */
  function hold(source, resumed, pause = 200) {
    const mine = session;
    let heard = false;
    let over = false;
    const launch = /^lch_[0-9a-f]{24}$/.exec(process.env.SERVICE_LAUNCH || "")?.[0];
    const own = open(
      { op: "hello", ...header(), source, resumed, extension_version: version, capabilities: ["midturn-peer"], launch },
      (frame) => {
        if (connection !== own) return;
        if (frame.event === "welcome") {
          welcome(frame);
          // A turn that ended while nobody was connected has ended all the same.
          if (resumed && !running && !starting) tell({ op: "turn_end" });
        }
        if (frame.event === "deliver") deliver(frame);
        // A turn that runs is told at its next tool call.
        if (frame.event === "seats" && !running && !starting) {
          message(frame.note, { triggerTurn: false });
          own.send({ op: "received", handoff_id: frame.handoff_id });
        }
        heard = heard || frame.event === "welcome";
        // A person who stopped the daemon wants it to stay stopped; the next turn tries again.
        over = frame.event === "release" || (frame.event === "bye" && !frame.restart) || (Boolean(frame.error) && !heard);
        if (over) own.end();
      },
      () => {
        if (connection !== own) return;
        connection = null;
        if (over || session !== mine) return;
        if (!heard) startDaemon();
        const next = heard ? 200 : Math.min(5000, pause * 2);
        setTimeout(() => session === mine && !connection && hold(source, resumed || heard, next), next * (0.5 + Math.random() / 2));
      },
    );
    connection = own;
  }

  /** Commands of this session, and of its subagents, say whose they are. */
  function identify() {
    main.env = { SERVICE_SESSION: "omp:" + session, SERVICE_BOOT: boot };
    Object.assign(process.env, main.env);
  }

  function welcome(frame) {
    boot = frame.boot || boot;
    identify();
    if (frame.note) message(frame.note, { triggerTurn: false });
  }

  function deliver(frame) {
    const id = frame.handoff_id;
    if (!added.has(id)) {
      // A turn that began meanwhile is entered by its person alone.
      if (running && frame.class === "owner_only") message(textOf(frame), { deliverAs: "aside" });
      else if (running) message(textOf(frame), { deliverAs: "followUp", triggerTurn: true });
      else message(textOf(frame), { triggerTurn: true });
      added.add(id);
    }
    connection.send({ op: "received", handoff_id: id });
  }

  const tell = (frame) => connection && connection.send(frame);

  /** The session waits for its person, until something else happens in it. */
  function needsPerson(what, question) {
    const where = process.env.TMUX && process.env.TMUX_PANE ? { where: "tmux " + process.env.TMUX_PANE } : {};
    tell({ op: "needs_person", what, question: question.replace(/[\s\p{Cc}]+/gu, " ").slice(0, 2000), ...where });
  }

  /** Resolves once it is said, so that a program which ends now does not take it along. */
  function goodbye() {
    const said = tell({ op: "goodbye" });
    connection = null;
    session = null;
    if (main.by === me) main.by = null;
    return said;
  }

  function begin(source, ctx) {
    const id = String(ctx.sessionManager.getSessionId());
    if (insideAnother(ctx.sessionManager) || (main.by && main.by !== me)) {
      // The person opened the conversation of a subagent in place of their own, which they may come back to.
      if (session) {
        goodbye();
        main.by = me;
      }
      subagent = id;
      return;
    }
    subagent = null;
    if (session === id) return;
    if (session) goodbye();
    main.by = me;
    session = id;
    boot = randomBytes(8).toString("hex");
    for (const name of foreign) delete process.env[name];
    identify();
    hold(source, false);
  }

  const spoken = (ctx) => ctx.sessionManager.getEntries().some((entry) => entry.type === "message");
  pi.on("session_start", (_, ctx) => begin(spoken(ctx) ? "resume" : "startup", ctx));
  pi.on("session_switch", (event, ctx) => begin(event.reason === "resume" ? "resume" : "clear", ctx));
  pi.on("session_branch", (_, ctx) => begin("clear", ctx));
  pi.on("session_shutdown", () => goodbye());
  pi.on("session_compact", async () => {
    if (!session) return;
    await ask({ op: "register", ...header(), source: "compact" }, ({ note }) => {
      if (note) message(note, { triggerTurn: false });
      return note;
    });
  });
  pi.on("agent_start", () => {
    running = true;
    starting = false;
    tell({ op: "prompt" });
  });
  pi.on("agent_end", () => {
    running = false;
    starting = false;
    tell({ op: "turn_end" });
  });
  pi.on("before_agent_start", async () => {
    if (!session) return;
    starting = true;
    if (!connection) hold("startup", true);
    const text = await ask({ op: "turn_start", ...header() }, textOf);
    if (text) return { message: { customType: "service", content: text, display: true } };
  });
  const boundary = async () => {
    if (!session) return;
    const asked = claims ? { claims, files: edited.splice(0) } : {};
    await ask({ op: "boundary", ...header(), capabilities: ["midturn-peer"], ...asked }, (carry) => {
      const text = textOf(carry);
      if (text) message(text, { deliverAs: "aside" });
      return text;
    });
  };
  pi.on("tool_execution_end", boundary);
  pi.on("tool_approval_requested", ({ toolCallId, toolName }) => {
    const { command, path, url } = called.toolCallId === toolCallId && called.input ? called.input : {};
    const telling = [command, path, url].find((value) => typeof value === "string");
    needsPerson("permission", telling ? toolName + ": " + telling : toolName);
  });
  pi.on("tool_approval_resolved", boundary);
  // omp keeps the variables its first command had for all later ones, so ours go along with each command that needs them.
  pi.on("tool_call", (event) => {
    called = event;
    const questions = event.toolName === "ask" && event.input && event.input.questions;
    if (Array.isArray(questions)) needsPerson("question", questions.map((one) => one.question).join(" / "));
    if (claims && session) edited = edited.concat(filesOf(event)).slice(-50);
    const command = event.input && event.input.command;
    if (event.toolName !== "bash" || typeof command !== "string") return;
    if (!runsService(command)) return;
    // An instance that was not told its session yet, beside the one of the person, is a subagent's.
    if (!session && !main.by && !subagent) return;
    const env = { ...event.input.env, ...main.env };
    const mark = subagent || !session ? "export SERVICE_SUBAGENT=" + (subagent || "unnamed") + "; " : "";
    const free = foreign.length > 0 ? "unset " + foreign.join(" ") + "; " : "";
    return { input: { ...event.input, env, command: free + mark + command } };
  });
}
`;
