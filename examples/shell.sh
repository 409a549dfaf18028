# Short names for the API, used by the pages of this folder. In the project's folder, with
# `make up` running:
#
#     . examples/shell.sh
#
# For another stack set URL, and TOKEN or VALKYR_HOME, before. Each function is a call or two of
# curl; what a page is about stands there in full.

URL=${URL:-http://127.0.0.1:${PORT:-8000}}
api()   { curl -sS -H "Authorization: Bearer $TOKEN" "$@"; }
post()  { api -H 'Content-Type: application/json' "$@"; }
json()  { .venv/bin/python -c "import json, sys; it = json.load(sys.stdin)
$1"; }
field() { json "print(it$1)"; }

if ! curl -sf "$URL/actuator/health/live" > /dev/null; then
  echo "Nothing answers at $URL. Start a stack with: make up" >&2
  return 1
fi
if ! api -f -o /dev/null "$URL/v1/Workflow?limit=1" 2> /dev/null; then  # a token lasts 30 minutes
  . "${VALKYR_HOME:-.valkyr}/secrets.env"
  TOKEN=$(post "$URL/v1/auth/token" \
    -d '{"username": "admin", "password": "'"$VALKYR_ADMIN_PASSWORD"'"}' | field '["access"]')
fi

workflow() {  # workflow SLUG: its id; nothing where there is none
  api "$URL/v1/Workflow?limit=500" | json "print(*[w['id'] for w in it if w['slug'] == '$1'])"
}

publish() {  # publish FILE: a new workflow, or the new draft of the one of that name; published
  WORKFLOW=$(workflow "$(sed -n 's/^name: *//p' "$1")") || return 1
  if [ -z "$WORKFLOW" ]; then
    WORKFLOW=$(api "$URL/v1/Workflow/import" -H 'Content-Type: application/yaml' \
      --data-binary "@$1" | field '["id"]') || return 1
  else
    .venv/bin/python -c "
import json, sys
from executions.definition.graph.document import load_text
text = sys.stdin.read()
print(json.dumps({'definition': load_text(text, content_type='application/yaml')}))" < "$1" \
      | post -X PATCH "$URL/v1/Workflow/$WORKFLOW" -d @- > /dev/null || return 1
  fi
  post "$URL/v1/Workflow/$WORKFLOW/publish" -d '{}' | json "
if 'version' not in it and it['status'] != 409: sys.exit(json.dumps(it, indent=2))"
}

start() {  # start SLUG [PAYLOAD]: an execution, whose id is in EXECUTION then
  PAYLOAD=${2:-'{}'}
  EXECUTION=$(post "$URL/v1/WorkflowExecution/$(workflow "$1")/execute" \
    -d "{\"params\": $PAYLOAD}" | json "
if 'id' in it: print(it['id'])
else: sys.exit(' '.join([it['detail'],
  *(error['path'] + ': ' + error['message'] for error in it.get('errors', []))]))")
}

execution() {  # execution KEY: what the API says of EXECUTION
  api "$URL/v1/WorkflowExecution/$EXECUTION" | field "['$1']"
}

result() {  # result: wait for the end of EXECUTION; what it returns, or why it did not
  while execution state | grep -Eq '^(PENDING|RUNNING)$'; do sleep 0.2; done
  api "$URL/v1/WorkflowExecution/$EXECUTION" | json "
print(json.dumps(it['output'], indent=2, ensure_ascii=False) if it['state'] == 'SUCCESS'
      else (it['state'] + ' ' + it['errorMessage']).strip())"
}

run() {  # run SLUG [PAYLOAD]: start, and result
  start "$@" && result
}

runs() {  # runs [STATE]: id and path of EXECUTION's runs, in order
  api "$URL/v1/Run?executionId=$EXECUTION&limit=500${1:+&state=$1}" | json "
for run in reversed(it): print(run['id'], run['stepPath'])"
}

waits() {  # waits TASK: once it waits, its run's id is in RUN
  RUN=
  while [ -z "$RUN" ] && execution state | grep -q RUNNING; do
    RUN=$(runs WAITING | sed -n "s/ $1[.].*//p")
    [ -n "$RUN" ] || sleep 0.1
  done
}

steps() {  # steps: path, state and outcome of EXECUTION's attempts, in order
  api "$URL/v1/WorkflowExecution/$EXECUTION/timeline" | json "
for run in it: print(f\"{run['stepPath']:28} {run['state']:9} {run['outcome'] or ''}\".rstrip())"
}
