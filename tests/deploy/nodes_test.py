"""deploy/compose, deploy/kubernetes/plackett-nodes.yaml and plackett-database.yaml: they fit the server,
its container and PostgreSQL. What database.sh does is in database_test.py."""

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
DATABASE = list(yaml.safe_load_all((MANIFEST.parent / "plackett-database.yaml").read_text()))
SETS = [one for one in DATABASE if one["kind"] == "StatefulSet"]
SCRIPT = (DEPLOY / "compose" / "database.sh").read_text()
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


def variables(server):
    """What database.sh is told, of a service or a container."""
    if "environment" in server:
        return server["environment"]
    return {one["name"]: one.get("value", "") for one in server["env"]}


def database_servers():
    """Pairs of servers, with what each is called by the other."""
    compose = [(name, SERVICES[name]) for name in ("primary", "standby")]
    sets = [(one["spec"]["serviceName"], one["spec"]["template"]["spec"]["containers"][0])
            for one in SETS]
    return compose, sets


def test_the_databases_are_a_pair():
    for (one, first), (other, second) in database_servers():
        assert variables(first)["OTHER"] == f"host={other}"
        assert variables(second)["OTHER"] == f"host={one}"
        # Only the first one is ever asked for a new database.
        assert "CREATE" in variables(first) and "CREATE" not in variables(second)
        for server in (first, second):
            given = variables(server)
            assert (server.get("entrypoint") or server["command"]) == ["/etc/plackett/database.sh"]
            # As synchronous_standby_names takes it without quotes.
            assert re.fullmatch("[a-z_]+", given["NAME"])
            assert given["POSTGRES_USER"] == given["POSTGRES_DB"] == "plackett"
            for name in re.findall(r"^#   ([A-Z_]+)  ", SCRIPT, re.MULTILINE):
                assert given.get(name), name


def test_the_databases_keep_what_is_acknowledged():
    assert "fsync=off" not in SCRIPT + str(COMPOSE) + str(SETS)
    settings = dict(re.findall(r"-c (\w+)=(\S+)", SCRIPT.split("exec docker-entrypoint.sh")[1]))
    assert settings["synchronous_commit"] == "on"
    # A setting of the command line could not be changed by ALTER SYSTEM.
    assert "synchronous_standby_names" not in settings
    assert int(settings["max_connections"]) >= 6 * len(NODES) + 10


def test_files_of_two_containers_are_shared():
    mounted = [volume for name in ("primary", "standby") for volume in SERVICES[name]["volumes"]
               if volume.startswith("./")]
    assert len(mounted) == 4 and all(volume.endswith(":ro,z") for volume in mounted)


def test_the_databases_of_kubernetes_are_on_two_machines():
    for one in SETS:
        template = one["spec"]["template"]
        (rule,) = template["spec"]["affinity"]["podAntiAffinity"][
            "requiredDuringSchedulingIgnoredDuringExecution"]
        assert rule["labelSelector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
        (server,) = template["spec"]["containers"]
        assert "livenessProbe" not in server and "startupProbe" not in server
        mounts = {mount["name"] for mount in server["volumeMounts"]}
        assert mounts == {volume["name"] for volume in template["spec"]["volumes"]} | {"data"}
    services = [one for one in DATABASE if one["kind"] == "Service"]
    assert {one["metadata"]["name"] for one in services} == {one["spec"]["serviceName"] for one in SETS}
    assert all(one["spec"]["publishNotReadyAddresses"] for one in services)


def test_databases_ask_for_a_password():
    for path in (DEPLOY / "compose" / "pg_hba.conf", MANIFEST.parent / "database_hba.conf"):
        for line in path.read_text().splitlines():
            words = line.split()
            if line.startswith("#"):
                continue
            assert words[-1] == "scram-sha-256" or words[0] == "local" or "127.0.0.1/32" in words, line


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
    subprocess.run(["bash", "-n"], input=SCRIPT, text=True, check=True)
    for service in NODES.values():
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
    # The arguments of a process are no secret, so the password is not in the URL.
    assert given["DATABASE_URL"]["secretKeyRef"] == {"name": "plackett-database", "key": "url"}
    assert given["PGPASSWORD"]["secretKeyRef"] == {"name": "plackett-database", "key": "password"}
    assert not re.search(r"postgresql://[^\s/@]*:[^\s/@]*@", MANIFEST.read_text())
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
                        if line.startswith("#   ") and "kubectl" not in line
                        and "--from-literal" not in line)
    shown = yaml.safe_load(comment)
    assert shown["kind"] == "Cluster" and shown["spec"]["minSyncReplicas"] >= 1
    most = int(shown["spec"]["postgresql"]["parameters"]["max_connections"])
    assert most >= 6 * (DEPLOYMENT["replicas"] + 1) + 10


if __name__ == "__main__":
    sys.exit(run_claims(sys.modules[__name__]))
