"""deploy/compose and deploy/kubernetes/plackett-nodes.yaml: they fit the server, its container and
PostgreSQL."""

import json
import re
import shlex
import sys

from claims import DEPLOY, ROOT, check_arguments, run_claims, skip
from container_test import only

try:
    import yaml
except ImportError:
    skip("yaml is missing (Debian: python3-yaml)")

COMPOSE = yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
NODES = {name: one for name, one in SERVICES.items() if name.startswith("node")}
MANIFEST = DEPLOY / "kubernetes" / "plackett-nodes.yaml"
DOCUMENTS = {one["kind"]: one for one in yaml.safe_load_all(MANIFEST.read_text())}
DEPLOYMENT = DOCUMENTS["Deployment"]["spec"]
POD = DEPLOYMENT["template"]["spec"]
(SERVER,) = POD["containers"]
PATHS = json.loads((ROOT / "docs" / "openapi.json").read_text())["paths"]


def shell_commands(service):
    """The commands of an entrypoint `bash -c SCRIPT`, as words."""
    shell, option, script = service["entrypoint"]
    assert (shell, option) == ("bash", "-c")
    return [shlex.split(part) for part in script.replace("$$", "$").split(";")]


def test_nodes_run_a_command_that_exists():
    assert len(NODES) == 3
    for name, node in NODES.items():
        (serve,) = [words[1:] for words in shell_commands(node) if words[0] == "exec"]
        assert serve[:2] == ["plackett", "serve"]
        check_arguments("serve", serve[2:])
        assert node["environment"]["NODE"] == name
        # What the node listens on is what is published.
        (port,) = node["ports"]
        assert port.startswith("127.0.0.1:")
        assert port.rsplit(":", 1)[1] == serve[serve.index("--port") + 1]


def test_nodes_are_never_open_by_mistake():
    for node in NODES.values():
        (serve,) = [words for words in shell_commands(node) if words[0] == "exec"]
        tokens = serve[serve.index("--tokens") + 1]
        assert tokens.removeprefix("/run/secrets/") in node["secrets"]
        assert node["read_only"] and node["cap_drop"] == ["ALL"]
    assert set(COMPOSE["secrets"]) == {"tokens", "password"}


def test_the_url_names_both_databases_and_no_password():
    for node in NODES.values():
        (serve,) = [words for words in shell_commands(node) if words[0] == "exec"]
        url = serve[serve.index("--db") + 1]
        hosts = re.fullmatch(r"postgresql://plackett@([a-z,]+)/plackett\?"
                             r"target_session_attrs=read-write", url)[1].split(",")
        assert set(hosts) == set(node["depends_on"]) == set(SERVICES) - set(NODES)


def test_the_standby_is_synchronous():
    settings = SERVICES["primary"]["command"]
    assert "synchronous_commit=on" in settings
    # The image's entrypoint would wait for a standby that is not there.
    assert not [one for one in settings if "synchronous_standby_names" in one]
    (script,) = SERVICES["standby"]["entrypoint"][2:]
    (standby,) = re.search(r"ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 \((\w+)\)'",
                           script).groups()
    assert f"application_name={standby}" in script and "--write-recovery-conf" in script
    assert "fsync=off" not in str(COMPOSE)
    # A standby that is promoted must not wait for one that is not there, and needs as many
    # connections as its primary.
    assert "synchronous_standby_names= " in script
    most = [one for one in settings if one.startswith("max_connections=")]
    assert most and most[0] in script
    assert int(most[0].split("=")[1]) >= 6 * len(NODES) + 10


def test_what_is_mounted_is_there():
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith("./"):
                assert (DEPLOY / "compose" / source).is_file(), source
            else:
                assert source in COMPOSE["volumes"], source


def test_scripts_are_shell():
    """As far as bash reads them without running them."""
    import subprocess
    for service in SERVICES.values():
        if "entrypoint" in service:
            script = service["entrypoint"][2].replace("$$", "$")
            subprocess.run(["bash", "-n", "-c", script], check=True)


def test_probes_ask_for_what_needs_no_token():
    for probe, path in {"startupProbe": "/health", "livenessProbe": "/health",
                        "readinessProbe": "/ready"}.items():
        asked = SERVER[probe]["httpGet"]
        assert asked["path"] == path
        assert PATHS[path]["get"]["x-role"] == "none"
        assert asked["port"] in [port["name"] for port in SERVER["ports"]]


def test_arguments_are_the_servers():
    assert SERVER["command"] == ["plackett", "serve"]
    arguments = SERVER["args"]
    check_arguments("serve", arguments)
    given = {one["name"]: one["valueFrom"] for one in SERVER["env"]}
    assert arguments[arguments.index("--db") + 1] == "$(DATABASE_URL)"
    assert given["DATABASE_URL"]["secretKeyRef"]["name"] == "plackett-database"
    assert arguments[arguments.index("--node-name") + 1] == "$(NODE_NAME)" and "NODE_NAME" in given
    assert arguments[arguments.index("--port") + 1] == only("EXPOSE").strip()
    (mount,) = SERVER["volumeMounts"]
    assert arguments[arguments.index("--tokens") + 1] == mount["mountPath"] + "/tokens"


def test_three_nodes_and_one_away_at_most():
    labels = DEPLOYMENT["selector"]["matchLabels"]
    assert DEPLOYMENT["replicas"] == 3
    assert DEPLOYMENT["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert DOCUMENTS["PodDisruptionBudget"]["spec"]["maxUnavailable"] == 1
    for selector in (DOCUMENTS["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
                     DOCUMENTS["Service"]["spec"]["selector"],
                     DEPLOYMENT["template"]["metadata"]["labels"]):
        assert selector == labels


def test_nodes_may_do_nothing_but_serve():
    user = int(only("USER").split(":")[0])
    assert POD["securityContext"]["runAsNonRoot"] and POD["securityContext"]["runAsUser"] == user
    inside = SERVER["securityContext"]
    assert inside["readOnlyRootFilesystem"] and not inside["allowPrivilegeEscalation"]
    assert inside["capabilities"] == {"drop": ["ALL"]}
    pause = int(SERVER["lifecycle"]["preStop"]["exec"]["command"][1])
    assert POD["terminationGracePeriodSeconds"] >= pause + 10 + 30


def test_the_operators_example_is_yaml():
    """The database that the manifest's comment shows."""
    comment = "\n".join(line[2:] for line in MANIFEST.read_text().splitlines()
                        if line.startswith("#   ") and "kubectl" not in line)
    shown = yaml.safe_load(comment)
    assert shown["kind"] == "Cluster" and shown["spec"]["minSyncReplicas"] >= 1
    most = int(shown["spec"]["postgresql"]["parameters"]["max_connections"])
    assert most >= 6 * (DEPLOYMENT["replicas"] + 1) + 10


if __name__ == "__main__":
    sys.exit(run_claims(sys.modules[__name__]))
