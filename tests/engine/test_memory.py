"""How much memory is left, read from folders that stand for /proc and /sys."""

import platform

import pytest

from gpt_viz.engine.memory import free_host_bytes

MB = 2**20


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Writes files of a pretended Linux and returns what is free there."""
    monkeypatch.setattr(platform, "system", lambda: "Linux")

    def free(**files):
        for path, text in files.items():
            target = tmp_path / path.replace("__", "/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        return free_host_bytes(tmp_path)

    return free


MEMINFO = "MemTotal:       16384 kB\nMemFree:         1024 kB\nMemAvailable:    8192 kB\nHugePages_Total:       0\n"


def test_available_counts_not_free(system):
    assert system(proc__meminfo=MEMINFO) == 8 * MB


def test_a_system_that_says_nothing_is_unknown(system):
    assert system() is None
    assert system(proc__meminfo="MemTotal: 3 kB\n") is None


def limits(limit, used, cache, group):
    folder = f"sys__fs__cgroup__{group}" if group else "sys__fs__cgroup__"
    return {
        f"{folder}memory.max": f"{limit}\n",
        f"{folder}memory.current": f"{used}\n",
        f"{folder}memory.stat": f"anon 5\ninactive_file {cache}\n",
    }


def test_a_containers_limit_holds_and_its_cache_can_be_taken_back(system):
    files = limits(4 * MB, 3 * MB, 1 * MB, "box__")
    assert system(proc__meminfo=MEMINFO, proc__self__cgroup="0::/box\n", **files) == 2 * MB


def test_a_limit_on_an_outer_group_holds_too(system):
    files = limits("max", 3 * MB, 0, "box__inner__") | limits(5 * MB, 3 * MB, 0, "box__")
    assert system(proc__meminfo=MEMINFO, proc__self__cgroup="0::/box/inner\n", **files) == 2 * MB


def test_inside_a_container_the_limit_lies_at_the_top(system):
    files = limits(4 * MB, 1 * MB, 0, "")
    assert system(proc__meminfo=MEMINFO, proc__self__cgroup="0::/\n", **files) == 3 * MB


def test_the_older_interface_is_read_as_well(system):
    found = system(
        proc__meminfo=MEMINFO,
        proc__self__cgroup="9:name=systemd:/\n4:memory,hugetlb:/job\n0::/\n",
        sys__fs__cgroup__memory__job__memory_limit="",
        **{
            "sys__fs__cgroup__memory__job__memory.limit_in_bytes": f"{6 * MB}",
            "sys__fs__cgroup__memory__job__memory.usage_in_bytes": f"{2 * MB}",
            "sys__fs__cgroup__memory__job__memory.stat": f"total_inactive_file {MB}\n",
        },
    )
    assert found == 5 * MB


def test_a_group_above_its_limit_leaves_nothing_and_not_less(system):
    files = limits(1 * MB, 3 * MB, 0, "")
    assert system(proc__meminfo=MEMINFO, proc__self__cgroup="0::/\n", **files) == 0


def test_this_machine_has_some():
    found = free_host_bytes()
    assert found is None or found > 50 * MB
