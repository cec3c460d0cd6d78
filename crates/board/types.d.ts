// The shapes of the daemon's answers, as far as the board reads them. /v1/openapi.json is normative.

type TaskState =
  | 'pending' | 'claimed' | 'in_progress' | 'completed' | 'failed' | 'stuck' | 'cancelled';

interface Claim { by: string; at: string; expires_at: string | null; session: string | null }

interface Task {
  id: string;
  subject: string;
  state: TaskState;
  owner: string | null;
  claim: Claim | null;
  blocks: string[];
  blocked_by: string[];
  priority: 'critical' | 'high' | 'medium' | 'low' | null;
  group: string | null;
  project: string | null;
  tags: string[];
  due: string | null;
  not_before: string | null;
  parent: string | null;
  complexity: string | null;
  estimate_minutes: number | null;
  attempts: number;
  ready: boolean;
  waits_for: string[];
  key: string;
  added_at: string | null;
  ended_at: string | null;
}

interface FullTask extends Task {
  description: string;
  notes: { kind: 'note' | 'answer'; by: string | null; at: string | null; text: string; question: { by: string | null; at: string | null; text: string } | null }[];
  metadata: Record<string, unknown>;
  provenance: { origin: string; by: string | null; at: string | null } | null;
  result: Ending | null;
  late: Ending[];
  landing: { landed: { onto: string; commit: string; at: string } | null; refused: NotLanded | null; approved: Approval | null; no_commit: string | null } | null;
  tracked_seconds: number;
}
interface Ending { ending: string; text: string; by: string; at: string; token: number | null }

type BranchAction = 'approve' | 'return' | 'land';
interface Approval { commit: string; by: string; at: string }
interface NotLanded { times: number; why: string; onto: string; at: string; by: string | null }

interface Need {
  kind: 'permission' | 'brief' | 'question' | 'stuck' | 'failed' | 'review' | 'run' | 'silent' | 'parked';
  item: string;
  repo: string | null;
  task: string | null;
  line: string;
  at: string | null;
  settle_with: string | null;
  page: string | null;
}

interface Permission {
  request: {
    request: number;
    worker: string;
    task: string | null;
    client: string;
    tool: string;
    dir: string | null;
    at: string;
    is_as_asked: boolean;
  };
  input: Record<string, unknown>;
  always: string | null;
}

interface Worker {
  id: string;
  agent: string | null;
  capabilities: string[];
  last_seen: string | null;
  pid: number | null;
  tmux: string | null;
  worktree: string | null;
  status: 'active' | 'retired';
  liveness: 'heartbeat' | 'process' | 'silent';
  to_decide: number;
  withheld: number;
  to_read: number;
  reports: number;
  has_token: boolean;
  next?: { seq: number; summary: string } | null;
}

interface Repository {
  id: string;
  name: string;
  n: number;
  workers: Worker[];
  lists: { list: string; tasks: Task[] }[];
}

interface Machine {
  machine: string;
  host: string;
  flagpost: string;
  since: string | null;
  lag: number | null;
  behind_since: string | null;
  behind: boolean;
}
interface ServerCopy { server: string; state: 'whole' | 'partial' | 'away' }
interface MachinesStanding {
  at: string;
  since: string;
  server: { address: string; version: string | null; fault: string | null; copies: ServerCopy[] };
  machine: string;
  repositories: { name: string; id: string; here: number | null; there: number | null; frozen: string | null }[];
  machines: Machine[];
}
interface MachinesSeen { link: 'connected' | 'alone' | 'unknown'; since: string | null; standing: MachinesStanding | null }

interface ListChange { repo: string; list: string; tasks: Task[]; removed: string[] }

interface Brief {
  brief: {
    worker: string;
    seq: number;
    kind: string;
    ticket: string | null;
    summary: string;
    controller: string;
    submitted_at: string;
    expires_at: string | null;
    in_reply_to: number | null;
  };
  body: string;
  stage: string;
  decision: string | null;
  verdict: { decision: string, by: string | null, at: string | null, reason: string | null } | null;
  envelope: string;
  withheld: { why: string; told: string; settle_with: string } | null;
  unproposed: boolean;
}

interface Report {
  report: {
    worker: string;
    seq: number;
    kind: string;
    ticket: string | null;
    body: string;
    next_action: string | null;
    produced_at: string;
  };
  read: boolean;
}

interface Message {
  message: {
    place: string;
    subject: string | null;
    title: string;
    from: string;
    to: string;
    thread: string | null;
    answers: string | null;
    at: string;
    body: string;
  };
  state: string;
  next?: string;
}
