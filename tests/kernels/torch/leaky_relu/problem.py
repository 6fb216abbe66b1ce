import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 10
dim = 1000


class Model(nn.Module):
    def forward(self, x):
        return F.leaky_relu(x, negative_slope=0.01)


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
